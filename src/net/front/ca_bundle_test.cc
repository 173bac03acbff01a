#include "net/front/ca_bundle.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/async/file.h"

namespace trainyard::front {
namespace {

namespace fs = std::filesystem;

class CaBundleTest : public testing::Test {
 protected:
  CaBundleTest() {
    std::string name = fs::temp_directory_path() / "trainyard-front-XXXXXX";
    folder_ = mkdtemp(name.data());
    EXPECT_TRUE(WriteFileAtomically(folder_ / "own.pem", "ours\n"));
  }
  ~CaBundleTest() override { fs::remove_all(folder_); }
  std::string Make(const std::vector<std::string>& system) {
    EXPECT_TRUE(MakeCaBundle(system, folder_ / "own.pem", folder_ / "bundle.pem"));
    return ReadFile(folder_ / "bundle.pem").value_or("");
  }

  fs::path folder_;
};

TEST_F(CaBundleTest, IsTheFirstOfTheSystemsAndOurs) {
  EXPECT_TRUE(WriteFileAtomically(folder_ / "second", "theirs"));
  EXPECT_TRUE(WriteFileAtomically(folder_ / "third", "not this\n"));
  EXPECT_EQ(Make({folder_ / "first", folder_ / "second", folder_ / "third"}), "theirs\nours\n");
}

TEST_F(CaBundleTest, IsOursAloneOnAMachineWithoutAuthorities) {
  EXPECT_EQ(Make({folder_ / "first"}), "ours\n");
}

TEST_F(CaBundleTest, IsLeftAloneWhileNothingChanged) {
  Make({});
  struct stat before{};
  stat((folder_ / "bundle.pem").c_str(), &before);
  Make({});
  struct stat after{};
  stat((folder_ / "bundle.pem").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_TRUE(WriteFileAtomically(folder_ / "own.pem", "renewed\n"));
  EXPECT_EQ(Make({}), "renewed\n");
}

TEST_F(CaBundleTest, NeedsOurs) {
  fs::remove(folder_ / "own.pem");
  EXPECT_FALSE(MakeCaBundle({}, folder_ / "own.pem", folder_ / "bundle.pem"));
}

}  // namespace
}  // namespace trainyard::front
