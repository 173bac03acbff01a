#include "base/async/remove_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/async/file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public testing::Test {
 protected:
  RemoveTreeTest() {
    // Uses a file system in memory if there is one: the tests make tens of thousands of directories.
    const fs::path memory = "/dev/shm";
    const bool writable = ::access(memory.c_str(), W_OK) == 0;
    std::string name = (writable ? memory : fs::temp_directory_path()) / "remove-tree-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~RemoveTreeTest() override { EXPECT_TRUE(RemoveTree(folder_)); }

  /// Folders in folders, far beyond PATH_MAX.
  void Nest(const fs::path& top, int depth, const char* name = "nested") {
    fs::create_directory(top);
    UniqueFd folder(::open(top.c_str(), O_RDONLY | O_DIRECTORY));
    for (int i = 0; i < depth; ++i) {
      ASSERT_EQ(::mkdirat(folder.get(), name, 0755), 0);
      folder = UniqueFd(::openat(folder.get(), name, O_RDONLY | O_DIRECTORY));
      ASSERT_TRUE(folder);
    }
    if (file_at_end_) UniqueFd(::openat(folder.get(), "file", O_WRONLY | O_CREAT, 0644));
  }

  fs::path folder_;
  bool file_at_end_ = true;
};

TEST_F(RemoveTreeTest, AnyDepth) {
  Nest(folder_ / "deep", 30'000);
  ASSERT_TRUE(RemoveTree(folder_ / "deep"));
  EXPECT_FALSE(fs::exists(folder_ / "deep"));
}

TEST_F(RemoveTreeTest, WideAndMixed) {
  for (int i = 0; i < 3'000; ++i) {
    fs::create_directories(folder_ / "wide" / std::to_string(i) / "below");
    std::ofstream(folder_ / "wide" / ("file" + std::to_string(i))) << i;
  }
  ASSERT_TRUE(RemoveTree(folder_ / "wide"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(RemoveTreeTest, LinksAreRemovedAndNotFollowed) {
  fs::create_directories(folder_ / "kept");
  std::ofstream(folder_ / "kept" / "file") << "x";
  fs::create_directories(folder_ / "tree");
  fs::create_directory_symlink(folder_ / "kept", folder_ / "tree" / "link");
  ASSERT_TRUE(RemoveTree(folder_ / "tree"));
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "file"));
  fs::create_directory_symlink(folder_ / "kept", folder_ / "link");
  ASSERT_TRUE(RemoveTree(folder_ / "link"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::exists(folder_ / "kept" / "file"));
}

TEST_F(RemoveTreeTest, FoldersClosedToTheirOwner) {
  fs::create_directories(folder_ / "tree" / "closed" / "inner");
  std::ofstream(folder_ / "tree" / "closed" / "inner" / "file") << "x";
  fs::permissions(folder_ / "tree" / "closed" / "inner", fs::perms::none);
  fs::permissions(folder_ / "tree" / "closed", fs::perms::owner_read);
  EXPECT_TRUE(RemoveTree(folder_ / "tree"));
  EXPECT_FALSE(fs::exists(folder_ / "tree"));
}

TEST_F(RemoveTreeTest, NothingThereAndFilesAreFine) {
  EXPECT_TRUE(RemoveTree(folder_ / "absent"));
  std::ofstream(folder_ / "file") << "x";
  EXPECT_TRUE(RemoveTree(folder_ / "file"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(RemoveTreeTest, FoldersOnlyStopsAtAFileAndGoesInSteps) {
  file_at_end_ = false;
  Nest(folder_ / "empty", 1'000);
  const UniqueFd empty(::open((folder_ / "empty").c_str(), O_RDONLY | O_DIRECTORY));
  auto remover = TreeRemover::Below(empty.get(), TreeRemover::What::kFoldersOnly);
  ASSERT_TRUE(remover);
  int steps = 0;
  while (true) {
    const auto done = remover->Step(100);
    ASSERT_TRUE(done) << done.error().message;
    ++steps;
    if (*done) break;
  }
  EXPECT_GT(steps, 10);
  EXPECT_TRUE(fs::is_empty(folder_ / "empty"));

  file_at_end_ = true;
  Nest(folder_ / "full", 10);
  const UniqueFd full(::open((folder_ / "full").c_str(), O_RDONLY | O_DIRECTORY));
  auto refused = TreeRemover::Below(full.get(), TreeRemover::What::kFoldersOnly);
  ASSERT_TRUE(refused);
  const auto done = refused->Step(1'000);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kAborted);
  EXPECT_EQ(done.error().message, "its folder holds \"file\"");
}

TEST_F(RemoveTreeTest, AFolderThatIsMovedAwayIsNotLeftByItsNewParent) {
  fs::create_directories(folder_ / "tree" / "a" / "b");
  std::ofstream(folder_ / "tree" / "a" / "b" / "file") << "x";
  fs::create_directories(folder_ / "elsewhere" / "b");
  const UniqueFd tree(::open((folder_ / "tree").c_str(), O_RDONLY | O_DIRECTORY));
  auto remover = TreeRemover::Below(tree.get(), TreeRemover::What::kEverything);
  ASSERT_TRUE(remover);
  // One entry per step: it is in "b" after the directories "a" and "b" were seen, entered and scanned.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(remover->Step(1));
  fs::rename(folder_ / "tree" / "a" / "b", folder_ / "elsewhere" / "moved");
  Result<bool> done = false;
  while (done && !*done) done = remover->Step(1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kAborted);
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere" / "b"));
}

}  // namespace
}  // namespace trainyard
