#include "programs/sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "programs/sandbox/cgroups/proc_figures.h"

namespace trainyard::replica {
namespace {

/// Runs it and returns its exit status; -1: it has none.
int ExitOf(const SandboxPlan& plan) {
  auto sandbox = Sandbox::Start(plan);
  EXPECT_TRUE(sandbox.has_value());
  if (!sandbox) return -1;
  pollfd ended{.fd = sandbox->pidfd(), .events = POLLIN, .revents = 0};
  poll(&ended, 1, -1);
  const int status = sandbox->Reap().wait_status.value_or(0xFF00);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class SandboxTest : public testing::Test {
 protected:
  SandboxTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    ours_.Reset(ends[0]);
    theirs_.Reset(ends[1]);
  }
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(SandboxTest, OnlyAFunctionThatAsksForItHasTheLock) {
  SandboxPlan plan{.function = [] { return fcntl(kLockFd, F_GETFD) >= 0 ? 7 : 8; }, .lock_fd = theirs_.get()};
  EXPECT_EQ(ExitOf(plan), 8);
  plan.function_holds_lock = true;
  EXPECT_EQ(ExitOf(plan), 7);
}

TEST_F(SandboxTest, AProgramNeverHasIt) {
  const SandboxPlan plan{
      .argv = {"/bin/sh", "-c",
               "n=3; while [ $n -lt 200 ]; do [ ! -e /proc/self/fd/$n ] || exit 9; n=$((n+1)); done"},
      .lock_fd = theirs_.get(),
      .function_holds_lock = true};
  EXPECT_EQ(ExitOf(plan), 0);
}

/// The lock is the writing end of a pipe: the reading end says when nobody holds it any more.
TEST_F(SandboxTest, ItsInitProcessHoldsTheLockWhileTheProgramLives) {
  {
    auto sandbox = Sandbox::Start({.argv = {"/bin/sleep", "1000"}, .lock_fd = theirs_.get()});
    ASSERT_TRUE(sandbox.has_value());
    theirs_.Reset();
    pollfd lock{.fd = ours_.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&lock, 1, 0), 0) << "nobody holds it";
  }
  char byte = 0;
  EXPECT_EQ(read(ours_.get(), &byte, 1), 0);
}

TEST_F(SandboxTest, ItsInitProcessIsToldOfBeforeTheProgramRuns) {
  pid_t told = 0;
  const SandboxPlan plan{.function = [] { return write(kResultFd, "ran", 3) == 3 ? 0 : 1; },
                         .result_fd = theirs_.get(),
                         .on_init =
                             [&](pid_t init) {
                               told = init;
                               pollfd ran{.fd = ours_.get(), .events = POLLIN, .revents = 0};
                               EXPECT_EQ(poll(&ran, 1, 100), 0) << "it did not wait";
                               return Status();
                             }};
  EXPECT_EQ(ExitOf(plan), 0);
  EXPECT_GT(told, 0);
}

/// An order that arrives when the init process is about to end is never read.
TEST_F(SandboxTest, ItsEndIsKnownAlthoughAnOrderCameTooLate) {
  pid_t init = 0;
  const SandboxPlan plan{.function =
                             [] {
                               char byte = 0;
                               return read(kResultFd, &byte, 1) == 0 ? 7
                                                                     : 8;  // until the other end is closed
                             },
                         .result_fd = ours_.get(),
                         .on_init =
                             [&](pid_t pid) {
                               init = pid;
                               return Status();
                             }};
  auto sandbox = Sandbox::Start(plan);
  ASSERT_TRUE(sandbox.has_value());
  const std::vector<pid_t> programs = Descendants(init);
  ASSERT_EQ(programs.size(), 1U);
  ASSERT_EQ(kill(init, SIGSTOP), 0);
  theirs_.Reset();
  const std::string stat = "/proc/" + std::to_string(programs[0]) + "/stat";
  while (ReadFile(stat).value_or("").find(") Z ") == std::string::npos) sched_yield();
  sandbox->Terminate();
  ASSERT_EQ(kill(init, SIGCONT), 0);
  pollfd ended{.fd = sandbox->pidfd(), .events = POLLIN, .revents = 0};
  poll(&ended, 1, -1);
  EXPECT_EQ(sandbox->Reap().wait_status, W_EXITCODE(7, 0));
}

TEST_F(SandboxTest, WhatCannotBeNotedDoesNotRun) {
  const SandboxPlan plan{.function = [] { return write(kResultFd, "ran", 3) == 3 ? 0 : 1; },
                         .result_fd = theirs_.get(),
                         .on_init = [](pid_t) -> Status { return std::unexpected(Internal("no disk")); }};
  EXPECT_EQ(Sandbox::Start(plan).error().message, "no disk");
  theirs_.Reset();
  char byte = 0;
  EXPECT_EQ(read(ours_.get(), &byte, 1), 0) << "it ran";
}

/// Whatever a warm interpreter answers, the program runs once: here in the way of every program.
class MotherThatFails : public SandboxTest, public testing::WithParamInterface<const char*> {};

TEST_P(MotherThatFails, TheProgramIsExecuted) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  UniqueFd mother(ends[0]);
  const UniqueFd connection(ends[1]);
  const std::string_view answer = GetParam();
  ASSERT_EQ(write(mother.get(), answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
  if (answer.empty()) mother.Reset();
  const SandboxPlan plan{.argv = {"/bin/sh", "-c", "echo ran $$"},
                         .directory = "/",
                         .isolation = geteuid() == 0 ? Isolation::kNamespaces : Isolation::kUserNamespaces,
                         .view = {.proc = true},
                         .mother = connection.get(),
                         .stdout_fd = theirs_.get()};
  auto sandbox = Sandbox::Start(plan);
  if (!sandbox && sandbox.error().code == Code::kPermissionDenied) GTEST_SKIP() << sandbox.error().message;
  ASSERT_TRUE(sandbox.has_value()) << sandbox.error().message;
  EXPECT_FALSE(sandbox->is_warm());
  theirs_.Reset();
  std::array<char, 64> said{};
  EXPECT_EQ(read(ours_.get(), said.data(), said.size()), 6);
  EXPECT_STREQ(said.data(), "ran 2\n");
}

INSTANTIATE_TEST_SUITE_P(Answers, MotherThatFails,
                         testing::Values("", "!refused", "0", "1", "2", "77", "-1", "x"),
                         [](const auto& row) { return "number_" + std::to_string(row.index); });

}  // namespace
}  // namespace trainyard::replica
