#include "stores/backup/tree_copier.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/async/file.h"

namespace trainyard::backup {
namespace {

namespace fs = std::filesystem;

class TreeCopierTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tree_copier_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_directories(source_ = folder_ / "source");
    target_ = folder_ / "target";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((source_ / name).parent_path());
    std::ofstream(source_ / name) << text;
  }
  static struct stat StatOf(const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }

  fs::path folder_;
  fs::path source_;
  fs::path target_;
};

TEST_F(TreeCopierTest, KeepsContentsModesAndTimes) {
  Write("a/b/file", "text");
  ASSERT_EQ(::chmod((source_ / "a/b/file").c_str(), 0640), 0);
  fs::last_write_time(source_ / "a/b/file", fs::file_time_type::clock::now() - std::chrono::hours(5));
  TreeCopier copier({});
  ASSERT_TRUE(copier.Copy(source_, target_));
  EXPECT_EQ(ReadFile(target_ / "a/b/file").value(), "text");
  const struct stat before = StatOf(source_ / "a/b/file");
  const struct stat after = StatOf(target_ / "a/b/file");
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  EXPECT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_NE(after.st_ino, before.st_ino);
  EXPECT_EQ(copier.counts(), (TreeCounts{.files = 1, .bytes = 4, .linked_files = 0}));
}

TEST_F(TreeCopierTest, FollowsNoLinkAndOpensNoPipe) {
  Write("file", "text");
  fs::create_symlink("/etc", source_ / "link");
  ASSERT_EQ(::mkfifo((source_ / "pipe").c_str(), 0600), 0);
  TreeCopier copier({});
  ASSERT_TRUE(copier.Copy(source_, target_));
  EXPECT_EQ(fs::read_symlink(target_ / "link"), "/etc");
  EXPECT_FALSE(fs::exists(target_ / "pipe"));
  EXPECT_EQ(copier.counts().files, 1);
}

TEST_F(TreeCopierTest, LinksOnlyWhatItMay) {
  Write("replaced", "by rename");
  Write("written", "in place");
  const ino_t linked = StatOf(source_ / "replaced").st_ino;
  TreeCopier copier({.may_link = [linked](const struct stat& file) { return file.st_ino == linked; }});
  ASSERT_TRUE(copier.Copy(source_, target_));
  EXPECT_EQ(copier.counts().files, 2);
  EXPECT_NE(StatOf(target_ / "written").st_ino, StatOf(source_ / "written").st_ino);
  if (copier.counts().linked_files == 0) GTEST_SKIP() << "this file system shares blocks instead";
  EXPECT_EQ(StatOf(target_ / "replaced").st_ino, linked);
}

TEST_F(TreeCopierTest, ASecondCallAddsWhatCameMeanwhile) {
  Write("one", "1");
  TreeCopier copier({});
  ASSERT_TRUE(copier.Copy(source_, target_));
  Write("two", "2");
  ASSERT_TRUE(copier.Copy(source_, target_));
  EXPECT_EQ(ReadFile(target_ / "two").value(), "2");
  EXPECT_EQ(copier.counts().files, 2);
}

TEST_F(TreeCopierTest, CopiesOneFile) {
  Write("one", "1");
  TreeCopier copier({});
  ASSERT_TRUE(copier.Copy(source_ / "one", folder_ / "one"));
  EXPECT_EQ(ReadFile(folder_ / "one").value(), "1");
}

TEST_F(TreeCopierTest, Stops) {
  Write("one", "1");
  std::stop_source stop;
  stop.request_stop();
  TreeCopier copier({.stop = stop.get_token()});
  const Status copied = copier.Copy(source_, target_);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, Code::kCancelled);
}

/// A file deeper than any object: left out, and the stack does not overflow.
TEST_F(TreeCopierTest, SurvivesATreeThatIsTooDeep) {
  UniqueFd folder = *OpenFile(source_, O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(::mkdirat(folder.get(), "d", 0700), 0);
    folder = UniqueFd(::openat(folder.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(folder);
  }
  TreeCopier copier({});
  EXPECT_TRUE(copier.Copy(source_, target_));
}

}  // namespace
}  // namespace trainyard::backup
