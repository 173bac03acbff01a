#include "server/options/settings_layers.h"

#include <gtest/gtest.h>

#include <fstream>

namespace trainyard::server {
namespace {

std::string Writers(mode_t mode, uid_t owner, gid_t group) {
  struct stat file{};
  file.st_mode = S_IFREG | mode;
  file.st_uid = owner;
  file.st_gid = group;
  return WhoElseMayWrite(file, 1000);
}

TEST(WhoElseMayWriteTest, IsSaid) {
  EXPECT_EQ(Writers(0644, 0, 0), "");
  EXPECT_EQ(Writers(0600, 1000, 1000), "");
  EXPECT_EQ(Writers(0664, 0, 0), "");
  EXPECT_EQ(Writers(0666, 0, 0), "every account may change it (mode 0666)");
  EXPECT_EQ(Writers(0664, 0, 27), "the accounts of group 27 may change it (mode 0664)");
  EXPECT_EQ(Writers(0644, 1001, 0), "it belongs to account 1001, which may change it");
  struct stat pipe{};
  pipe.st_mode = S_IFIFO | 0666;
  EXPECT_EQ(WhoElseMayWrite(pipe, 1000), "");
}

TEST(LoadConfigurationFileTest, ReadsOrSaysWhyNot) {
  const std::string path = testing::TempDir() + "/config-" + std::to_string(::getpid()) + ".yaml";
  EXPECT_EQ(LoadConfigurationFile(path).error().code, Code::kNotFound);
  std::ofstream(path) << "verbose: true\n";
  ASSERT_EQ(::chmod(path.c_str(), 0646), 0);
  const auto file = LoadConfigurationFile(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->text, "verbose: true\n");
  EXPECT_EQ(
      file->warning,
      path + ": every account may change it (mode 0646): allow only its owner to write it (chmod 0644)");
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_FALSE(LoadConfigurationFile(testing::TempDir()));
}

}  // namespace
}  // namespace trainyard::server
