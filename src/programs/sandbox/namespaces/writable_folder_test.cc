#include "programs/sandbox/namespaces/writable_folder.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/async/testing/temporary_folder.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;

class WritableFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { Make("shared", "changes"); }

  void Make(const std::string& shared, const std::string& changes) {
    writable_ = {.folder = folder_.path() + "/" + shared, .changes = folder_.path() + "/" + changes};
    fs::create_directories(writable_.folder + "/trainer");
    std::ofstream(writable_.folder + "/trainer/task.py") << "shared";
    ASSERT_TRUE(MakeChangeFolders(writable_));
  }

  /// Runs the function where the directory is read-only except through the overlay. @return its result; empty
  /// if the machine allows no sandbox.
  std::optional<int> Run(Isolation isolation, std::function<int()> function) {
    const SandboxPlan plan{
        .function = std::move(function),
        .isolation = isolation,
        .view = {.hidden = folder_.path(), .kept = {writable_.changes}, .read_only = {writable_.folder}},
        .writable = writable_};
    auto sandbox = Sandbox::Start(plan);
    if (!sandbox) return std::nullopt;
    error_ = sandbox->writable_error();
    pollfd ended{.fd = sandbox->pidfd(), .events = POLLIN, .revents = 0};
    poll(&ended, 1, -1);
    const Sandbox::Outcome how = sandbox->Reap();
    return how.wait_status && WIFEXITED(*how.wait_status) ? WEXITSTATUS(*how.wait_status) : -1;
  }

  TemporaryFolder folder_;
  WritableFolder writable_;
  int error_ = 0;
};

class OfEachIsolation : public WritableFolderTest, public ::testing::WithParamInterface<Isolation> {};

TEST_P(OfEachIsolation, WhatOneReplicaWritesNobodyElseSees) {
  const auto result = Run(GetParam(), [this] {
    std::ofstream(writable_.folder + "/trainer/task.py") << "changed";
    std::ofstream(writable_.folder + "/trainer/new.txt") << "new";
    if (ReadFile(writable_.folder + "/trainer/task.py").value_or("") != "changed") return 1;
    if (ReadFile(writable_.folder + "/trainer/new.txt").value_or("") != "new") return 2;
    return access(writable_.Upper().c_str(), F_OK) == 0 ? 3 : 0;
  });
  if (!result) GTEST_SKIP() << "this machine does not allow this isolation";
  if (error_ != 0) GTEST_SKIP() << "the kernel refuses the overlay: " << error_;
  EXPECT_EQ(result, 0);
  EXPECT_EQ(ReadFile(writable_.folder + "/trainer/task.py").value_or(""), "shared");
  EXPECT_FALSE(fs::exists(writable_.folder + "/trainer/new.txt"));
  EXPECT_EQ(ReadFile(writable_.Upper() + "/trainer/new.txt").value_or(""), "new");
  EXPECT_TRUE(RemoveTree(writable_.changes)) << "the attempt's directory is removed after its end";
}
INSTANTIATE_TEST_SUITE_P(Each, OfEachIsolation,
                         ::testing::Values(Isolation::kNamespaces, Isolation::kUserNamespaces,
                                           Isolation::kNoPidNamespace));

TEST_F(WritableFolderTest, APathThatSeparatesOptionsLeavesItReadOnlyAndIsSaid) {
  Make("a,b", "changes");
  const auto result = Run(geteuid() == 0 ? Isolation::kNamespaces : Isolation::kUserNamespaces, [this] {
    std::ofstream file(writable_.folder + "/trainer/new.txt");
    return file ? 1 : 0;
  });
  if (!result) GTEST_SKIP() << "this machine does not allow namespaces";
  EXPECT_EQ(result, 0);
  EXPECT_EQ(error_, EINVAL);
}

}  // namespace
}  // namespace trainyard::replica
