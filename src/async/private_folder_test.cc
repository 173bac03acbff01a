#include "async/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

class PrivateFolder : public testing::Test {
 protected:
  PrivateFolder() {
    std::string pattern = (fs::temp_directory_path() / "private_folder.XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~PrivateFolder() override { fs::remove_all(folder_); }

  static unsigned Mode(const fs::path& path) {
    struct stat there{};
    EXPECT_EQ(::stat(path.c_str(), &there), 0);
    return there.st_mode & 07777;
  }

  fs::path folder_;
};

TEST_F(PrivateFolder, AndWhatIsMissingAboveItAreTheOwners) {
  fs::permissions(folder_, fs::perms(0755));
  const mode_t before = ::umask(0);
  EXPECT_TRUE(MakePrivateFolder(folder_ / "a/b/"));
  ::umask(before);
  EXPECT_EQ(Mode(folder_), 0755U);
  EXPECT_EQ(Mode(folder_ / "a"), 0700U);
  EXPECT_EQ(Mode(folder_ / "a/b"), 0700U);
  EXPECT_TRUE(MakePrivateFolder(folder_ / "a/b"));
}

TEST_F(PrivateFolder, WhereAFileIsFails) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(MakePrivateFolder(folder_ / "file"));
  EXPECT_FALSE(MakePrivateFolder(folder_ / "file/below"));
}

}  // namespace
}  // namespace trainyard
