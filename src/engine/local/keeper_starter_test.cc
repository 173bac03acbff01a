#include "engine/local/keeper_starter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "engine/testing/local_host_world.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class KeeperHostWorld : public LocalHostWorld {
 protected:
  KeeperHostWorld() : LocalHostWorld(true) {}
};

INSTANTIATE_TYPED_TEST_SUITE_P(Keeper, AttemptHostConformance, KeeperHostWorld);

class KeeperStarterTest : public KeeperHostWorld {
 protected:
  KeeperStarterTest() {
    host_->SetOnGone([this](const std::string& attempt_id) { gone_.push_back(attempt_id); });
  }
  AttemptState Inspect() { return loop_.Run(host_->Inspect(ref())).state; }
  Status Start() { return loop_.Run(host_->Start(Order(), slot())); }
  bool WaitUntilReported() {
    return loop_.RunUntil([this] { return !gone_.empty(); });
  }
  void KillKeeper() {
    keeper_->Signal(SIGKILL);
    EXPECT_EQ(keeper_->WaitForEnd().signal, SIGKILL);
  }
  void NextKeeper() {
    keeper_.reset();
    keeper_.emplace(folder_.path());
  }

  std::vector<std::string> gone_;
};

TEST_F(KeeperStarterTest, TheSupervisorIsNoChildOfTheServer) {
  ASSERT_TRUE(Start());
  EXPECT_EQ(waitpid(*replica::LockHolder(dir_), nullptr, WNOHANG), -1);
  ASSERT_TRUE(LetEnd());
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
}

TEST_F(KeeperStarterTest, AnAttemptGoesOnWhenTheKeeperIsKilled) {
  ASSERT_TRUE(Start());
  KillKeeper();
  EXPECT_EQ(Inspect(), AttemptState::kAlive);
  EXPECT_TRUE(gone_.empty());
  ASSERT_TRUE(LetEnd());
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())));
  NextKeeper();
  EXPECT_TRUE(Start()) << "the next keeper starts the next one";
}

TEST_F(KeeperStarterTest, WithoutAKeeperNothingStartsAndNothingIsLeftOfIt) {
  KillKeeper();
  const Status started = Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), Unavailable("the keeper at " + keeper_->socket() +
                                         " does not answer: is trainyard-jobs.service running?"));
  EXPECT_EQ(Inspect(), AttemptState::kAbsent);
  EXPECT_FALSE(LimitsOfKeeper(keeper_->socket(), settings_.attempts_dir));
  NextKeeper();
  EXPECT_TRUE(Start());
}

TEST_F(KeeperStarterTest, TheProgramHasNothingOfTheKeepersOpen) {
  Program("ls /proc/self/fd");
  StartServer();
  ASSERT_TRUE(Start());
  OpenBarrier();
  WaitForExit();
  const std::string structured = "INFO " + std::to_string(replica::kStructuredLogFd);
  EXPECT_THAT(UserLines(), UnorderedElementsAre("INFO 0", "INFO 1", "INFO 2", "INFO 3", structured))
      << "3 is what ls reads";
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
}

TEST_F(KeeperStarterTest, ToldToEndTheKeeperLetsReplicasEndInOrder) {
  Program("trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.01; done");
  StartServer();
  ASSERT_TRUE(Start());
  OpenBarrier();
  ASSERT_TRUE(WaitForLine("up"));
  keeper_->Signal(SIGTERM);
  EXPECT_EQ(WaitForExit().cause(), ExitRecord::SHUT_DOWN);
  Dismiss();
  ASSERT_TRUE(WaitUntilReported());
  EXPECT_EQ(keeper_->WaitForEnd(), ExitStatus{});
  EXPECT_THAT(Lines(), testing::Contains(HasSubstr("told")));
  EXPECT_EQ(Inspect(), AttemptState::kEnded);
}

TEST_F(KeeperStarterTest, WhatCannotBeBoundedIsKnownAndMayKeepReplicasFromStarting) {
  EXPECT_TRUE(starter_->limits().limits.empty());
  ASSERT_TRUE(starter_->FindHome());
  EXPECT_EQ(starter_->limits().limits.size(), 3U);
  check_ = [](const MachineLimits& limits) -> Status {
    EXPECT_EQ(limits.limits.size(), 3U);
    return std::unexpected(FailedPrecondition("too little is bounded"));
  };
  MakeHost({});
  EXPECT_EQ(Start().error(), Unavailable("too little is bounded"));
  EXPECT_EQ(Inspect(), AttemptState::kAbsent);
}

/// A keeper starts only its own program (keeper_test.cc checks who may write to that).
TEST_F(KeeperStarterTest, AProgramThatMayNotBeExecutedIsWaitedFor) {
  const std::string program = folder_.path() + "/program";
  fs::copy_file("/bin/true", program);
  MakeHost({.supervisor_program = program});
  const Status started = Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kUnavailable);
  EXPECT_THAT(started.error().message, HasSubstr("the keeper starts nothing but"));
  // The keeper answers before it closes the lock that it received.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  AttemptState state = Inspect();
  while (state == AttemptState::kAlive && std::chrono::steady_clock::now() < deadline) state = Inspect();
  EXPECT_EQ(state, AttemptState::kLost);
}

}  // namespace
}  // namespace trainyard::engine
