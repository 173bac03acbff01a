#include "engine/agent/node_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "base/async/testing/temporary_folder.h"
#include "engine/local/attempt_files.h"

namespace trainyard::agent {
namespace {

namespace fs = std::filesystem;

class NodeFolderTest : public testing::Test {
 protected:
  Result<NodeFolder> Open(const std::string& ticket, int slot = 0) {
    return NodeFolder::Open({.dir = folder_.path(), .node = "n1", .ticket = ticket, .slot = slot});
  }
  TemporaryFolder folder_;
};

TEST_F(NodeFolderTest, IsItsOwnersAlone) {
  const auto opened = Open("t");
  ASSERT_TRUE(opened) << opened.error().message;
  for (const std::string& path : {opened->attempts_dir(), opened->run_dir(), opened->environments_dir()})
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
  EXPECT_EQ(opened->attempts_dir().find("/t/"), std::string::npos);
}

TEST_F(NodeFolderTest, ALinkIsNotFollowed) {
  fs::create_directory_symlink(folder_.path(), folder_.path() + "/link");
  const auto opened =
      NodeFolder::Open({.dir = folder_.path() + "/link", .node = "n1", .ticket = "t", .slot = 0});
  EXPECT_EQ(opened.error().code, Code::kFailedPrecondition);
}

TEST_F(NodeFolderTest, ASlotHasOneAgent) {
  std::optional<Result<NodeFolder>> first = Open("t", 1);
  ASSERT_TRUE(*first);
  EXPECT_EQ(Open("t", 1).error().code, Code::kAlreadyExists);
  EXPECT_TRUE(Open("t", 2));
  EXPECT_TRUE(Open("u", 1));
  first.reset();
  EXPECT_TRUE(Open("t", 1));
}

TEST_F(NodeFolderTest, WhatEndedIsRemovedAndWhatLivesIsNot) {
  std::string ended;
  std::string with_attempt;
  {
    const auto first = Open("ended");
    ended = first->run_dir();
    ASSERT_TRUE(engine::MakeAttempt({first->attempts_dir() + "/7-master-replica-0-1"}, {}));
    const auto second = Open("attempt");
    with_attempt = second->attempts_dir() + "/8-master-replica-0-1";
  }
  const auto attempt_lock = engine::MakeAttempt({with_attempt}, {});
  ASSERT_TRUE(attempt_lock);
  const auto living = Open("living");
  const auto own = Open("own");
  ASSERT_TRUE(own);
  own->RemoveOldSlots();
  EXPECT_FALSE(fs::exists(ended));
  EXPECT_TRUE(fs::exists(with_attempt));
  EXPECT_TRUE(fs::exists(living->run_dir()));
  EXPECT_TRUE(fs::exists(own->run_dir()));
}

}  // namespace
}  // namespace trainyard::agent
