#include "programs/sandbox/network/network_owner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;

std::string Link(const std::string& name) { return fs::read_symlink("/proc/self/ns/" + name); }

Result<ChildReply> OwnNetwork() {
  if (unshare(CLONE_NEWNET) != 0) return std::unexpected(ErrnoError(errno, "unshare"));
  return ChildReply{.process = getpid(), .network = UniqueFd(open("/proc/self/ns/net", O_RDONLY))};
}

class NetworkOwnerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto made = RunInChild(kNewOwner, OwnNetwork);
    if (!made) GTEST_SKIP() << made.error().message;
  }
};

TEST_F(NetworkOwnerTest, IsFoundByItsNetworkAndEnteredAgain) {
  const std::string before = Link("net") + Link("user");
  const auto first = RunInChild(kNewOwner, OwnNetwork);
  ASSERT_TRUE(first) << first.error().message;
  const auto owner = OwnerOf(first->network.get());
  ASSERT_TRUE(owner) << owner.error().message;
  const auto inside = RunInChild(owner->get(), [&]() -> Result<ChildReply> {
    TY_RETURN_IF_ERROR(EnterNetwork(first->network.get()));
    if (geteuid() != 0) return std::unexpected(Internal("it is not root"));
    return OwnNetwork();  // which only root may
  });
  ASSERT_TRUE(inside) << inside.error().message;
  EXPECT_NE(Link("net") + Link("user"), "");
  EXPECT_EQ(Link("net") + Link("user"), before) << "we are where we were";
  const auto second = OwnerOf(inside->network.get());
  ASSERT_TRUE(second) << second.error().message;
  const fs::path fds = "/proc/self/fd";
  EXPECT_EQ(fs::read_symlink(fds / std::to_string(owner->get())),
            fs::read_symlink(fds / std::to_string(second->get())));
}

TEST_F(NetworkOwnerTest, WhatIsClonedForTheParentIsOurs) {
  const auto cloned = RunInChild(kNewOwner, []() -> Result<ChildReply> {
    const long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) _exit(7);
    return ChildReply{.process = static_cast<pid_t>(pid), .network = {}};
  });
  ASSERT_TRUE(cloned) << cloned.error().message;
  int status = 0;
  EXPECT_EQ(waitpid(cloned->process, &status, 0), cloned->process);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(NetworkOwnerTest, TellsWhyNot) {
  const auto refused = RunInChild(kNewOwner, []() -> Result<ChildReply> {
    return std::unexpected(ErrnoError(EPERM, "make a network namespace"));
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), ErrnoError(EPERM, "make a network namespace"));
  const auto died = RunInChild(kNoOwner, []() -> Result<ChildReply> { _exit(1); });
  ASSERT_FALSE(died);
  EXPECT_EQ(died.error().code, Code::kInternal);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

}  // namespace
}  // namespace trainyard::replica
