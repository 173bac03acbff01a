#include "stores/backup/backup_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trainyard::backup {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class BackupPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::canonical(testing::TempDir()).string() + "/backup_place_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directories(folder_ / "data");
    fs::create_directories(folder_ / "bucket/inside");
    fs::create_directories(folder_ / "backups");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Status Make(const std::string& name) {
    return MakeBackupFolder(folder_ / name, folder_ / "data", {folder_ / "bucket"});
  }
  static std::string Why(const Status& made) {
    return made ? "" : made.error().field + ": " + made.error().message;
  }

  fs::path folder_;
};

TEST_F(BackupPlaceTest, IsMadeForTheServerAlone) {
  ASSERT_TRUE(Make("backups/a/b"));
  EXPECT_EQ(fs::status(folder_ / "backups/a").permissions(), fs::perms::owner_all);
  EXPECT_TRUE(Make("backups/a/b")) << "what is there is taken";
  EXPECT_TRUE(Make("data/backups/one"));
}

TEST_F(BackupPlaceTest, IsWhereNoJobReads) {
  EXPECT_THAT(Why(Make("bucket")), HasSubstr("which jobs read"));
  EXPECT_THAT(Why(Make("bucket/inside/deep")), HasSubstr("directory: "));
  EXPECT_THAT(Why(Make("data/buckets/b")), HasSubstr("in the data directory"));
  EXPECT_THAT(Why(Make("data/attempts/x")), HasSubstr("in the data directory"));
  EXPECT_TRUE(Make("bucket-of-backups")) << "only its name begins so";
}

TEST_F(BackupPlaceTest, FollowsNoLink) {
  fs::create_directory_symlink(folder_ / "bucket", folder_ / "backups/link");
  EXPECT_THAT(Why(Make("backups/link")), HasSubstr("is a link"));
  EXPECT_THAT(Why(Make("backups/link/new")), HasSubstr("is a link"));
  EXPECT_FALSE(fs::exists(folder_ / "bucket/new"));
  for (const char* name : {"backups/../bucket/x", "backups//x", "backups/./x", "backups/x/"})
    EXPECT_THAT(Why(Make(name)), HasSubstr("without '.' and '..'")) << name;
}

TEST_F(BackupPlaceTest, IsBelowNoFolderThatOthersChange) {
  ASSERT_EQ(::chmod((folder_ / "backups").c_str(), 0777), 0);
  EXPECT_THAT(Why(Make("backups/x")), HasSubstr("can be written by other accounts"));
  ASSERT_EQ(::chmod((folder_ / "backups").c_str(), 0770), 0);
  EXPECT_THAT(Why(Make("backups/x")), HasSubstr("can be written by other accounts")) << "its group's";
  ASSERT_EQ(::chmod((folder_ / "backups").c_str(), 01777), 0);
  EXPECT_TRUE(Make("backups/x"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a folder away";
  ASSERT_EQ(::chown((folder_ / "backups").c_str(), 12345, 12345), 0);
  EXPECT_THAT(Why(Make("backups/y")), HasSubstr("belongs to another account"));
}

TEST_F(BackupPlaceTest, ThroughTheApiBelowTheOperatorsFolder) {
  const std::string base = folder_ / "backups";
  EXPECT_EQ(AllowedPlace("/anywhere", "", true), "/anywhere");
  const auto unnamed = AllowedPlace(base + "/x", "", false);
  EXPECT_EQ(unnamed.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(unnamed.error().message, HasSubstr("--backup-dir DIR"));
  EXPECT_EQ(AllowedPlace(base + "/x/y", base, false), base + "/x/y");
  for (const std::string& path :
       {base, base + "/", base + "/../bucket/x", base + "x", std::string("/etc/x"), std::string("x")}) {
    const auto refused = AllowedPlace(path, base, false);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().field, "directory");
  }
  fs::create_directory_symlink(base, folder_ / "link");
  EXPECT_EQ(AllowedPlace(folder_ / "link/x", folder_ / "link", false), base + "/x")
      << "the operator's own link";
  EXPECT_THAT(AllowedPlace("/absent/x", "/absent", false).error().message, HasSubstr("--backup-dir /absent"));
}

}  // namespace
}  // namespace trainyard::backup
