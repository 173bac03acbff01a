#include "engine/agent/run_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "engine/agent/node_folder.h"
#include "engine/agent/slot_end.h"
#include "engine/agent/testing/agent_fixture.h"
#include "engine/agent/worker.h"
#include "engine/local/machine.h"
#include "rules/placement/plan.h"

namespace trainyard::agent {
namespace {

using replica::v1::ExitRecord;

class AgentTest : public AgentFixture {
 protected:
  /// Starts an attempt whose program runs until it is told to end.
  void StartRunningAttempt() {
    StartServer();
    Program("trap 'exit 3' TERM; while :; do sleep 0.01; done");
    StartAgent();
    ASSERT_TRUE(WaitForHellos(1));
    StartAttempt();
    OpenBarrier();
  }
  void Forget() {
    v1::ToAgent::Request request;
    request.set_forget(kAttempt);
    const auto answers = agents_server_->Ask(request);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].code(), 0) << answers[0].message();
  }
  v1::AttemptFound Inspect() {
    v1::ToAgent::Request request;
    request.set_inspect(kAttempt);
    const auto answers = agents_server_->Ask(request);
    return answers.empty() ? v1::AttemptFound() : answers[0].attempt();
  }
  /// Waits until the supervisor has attached `count` times.
  [[nodiscard]] bool WaitForAttachments(int count) {
    return server_->WaitFor([count](const auto& memory) {
      return std::ranges::count_if(memory.frames, [](const auto& frame) { return frame.has_hello(); }) >=
             count;
    });
  }
  /// Lets the server collect what the supervisor has recorded, and forget the attempt.
  ExitRecord TakeOver() {
    ExitRecord exit = WaitForExit();
    Dismiss();
    EXPECT_TRUE(WaitForGone());
    Forget();
    return exit;
  }
};

TEST_F(AgentTest, SaysWhatTheNodeHasAndKeepsTheTicketToItself) {
  StartAgent();
  ASSERT_TRUE(WaitForWelcome());
  const v1::FromAgent::Hello hello = Hellos()[0];
  EXPECT_EQ(hello.protocol(), v1::PROTOCOL_1);
  EXPECT_EQ(hello.ticket(), "the-ticket");
  EXPECT_EQ(hello.slot(), 0);
  EXPECT_EQ(hello.instance().size(), 32U);
  EXPECT_EQ(hello.attempts_size(), 0);
  EXPECT_EQ(hello.node().name(), "n1");
  EXPECT_GE(hello.node().cpus(), 1);
  EXPECT_GT(hello.node().memory_bytes(), 0);
  EXPECT_GE(hello.node().port(), placement::kLeasePortFirst);
  EXPECT_LE(hello.node().port(), placement::kLeasePortLast);
  EXPECT_FALSE(hello.node().host_name().empty());
  EXPECT_FALSE(hello.node().address().empty());
  EXPECT_EQ(End(SIGTERM), ExitStatus());
  EXPECT_THAT(Endings(), testing::ElementsAre("the cluster ends the slot"));
  EXPECT_EQ(Complaints(), "");
}

TEST_F(AgentTest, OneThatIsRefusedEnds) {
  agents_server_->SetGreet([](const auto&) {
    v1::ToAgent frame;
    frame.mutable_refused()->set_reason("another agent has the slot");
    return frame;
  });
  StartAgent();
  EXPECT_EQ(WaitForAgent(), ExitStatus{.code = kExitRefused});
  EXPECT_EQ(Complaints(), "trainyard agent: the server rejects this agent: another agent has the slot\n");
}

TEST_F(AgentTest, AServerOfAnotherFingerprintIsToldNothing) {
  StartAgent({.fingerprint = std::string(64, 'a')});
  ASSERT_TRUE(agents_server_->WaitFor([](const auto& memory) { return memory.connections >= 2; }));
  EXPECT_EQ(End(SIGTERM), ExitStatus());
  EXPECT_TRUE(Hellos().empty());
}

TEST_F(AgentTest, ASlotHasOneAgentOnANode) {
  StartAgent();
  ASSERT_TRUE(WaitForHellos(1));
  StartAgent();
  EXPECT_EQ(WaitForAgent(), ExitStatus{.code = kExitRefused});
  EXPECT_EQ(Complaints(), "trainyard agent: another agent of this slot lives on this node\n");
}

TEST_F(AgentTest, WithoutATicketThereIsNothingToDo) {
  StartAgent({.ticket = ""});
  EXPECT_EQ(WaitForAgent(), ExitStatus{.code = 1});
}

TEST_F(AgentTest, TwoOnANodeHavePortsOfTheirOwn) {
  StartAgent({.slot = 0});
  StartAgent({.slot = 1});
  ASSERT_TRUE(WaitForHellos(2));
  EXPECT_NE(Hellos()[0].node().port(), Hellos()[1].node().port());
  EXPECT_NE(Hellos()[0].instance(), Hellos()[1].instance());
}

TEST_F(AgentTest, RunsAnAttempt) {
  StartServer();
  Program("echo hello; exit 4");
  StartAgent();
  ASSERT_TRUE(WaitForHellos(1));
  StartAttempt();
  EXPECT_EQ(Inspect().state(), v1::AttemptFound::ALIVE);
  OpenBarrier();
  const ExitRecord exit = WaitForExit();
  EXPECT_EQ(exit.exit_code(), 4);
  EXPECT_EQ(UserLines(), std::vector<std::string>{"INFO hello"});
  Dismiss();
  ASSERT_TRUE(WaitForGone());
  EXPECT_EQ(Inspect().state(), v1::AttemptFound::ENDED);
  v1::ToAgent::Request collect;
  collect.mutable_collect()->set_attempt_id(kAttempt);
  const auto answers = agents_server_->Ask(collect);
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers[0].exit().SerializeAsString(), exit.SerializeAsString());
  EXPECT_EQ(answers[0].endpoint().port(), Hellos()[0].node().port());
  EXPECT_TRUE(answers.back().last());
  Forget();
  EXPECT_EQ(Inspect().state(), v1::AttemptFound::STATE_UNSPECIFIED);
  EXPECT_FALSE(std::filesystem::exists(dir_.path));
}

TEST_F(AgentTest, AReplicasConnectionNamesItsAttempt) {
  StartServer();
  memory_->objects["b/o"] = "from the bucket";
  PythonProgram(
      "import os, urllib.request\n"
      "print(urllib.request.urlopen(os.environ['STORAGE_EMULATOR_HOST'] + '/storage/v1/b/b/o/o?alt=media')"
      ".read().decode())\n");
  StartAgent();
  ASSERT_TRUE(WaitForHellos(1));
  StartAttempt();
  OpenBarrier();
  EXPECT_EQ(WaitForExit().exit_code(), 0);
  EXPECT_EQ(UserLines(), std::vector<std::string>{"INFO from the bucket"});
  EXPECT_TRUE(agents_server_->WaitFor([](const auto& memory) {
    return std::ranges::count(memory.paths, "/agent/v1/replica/" + std::string(kAttempt)) == 1;
  }));
  EXPECT_EQ(TakeOver().exit_code(), 0);
}

TEST_F(AgentTest, GooglesNamesLeadToTheServer) {
  if (::geteuid() != 0 && !(engine::CheckUserNamespaces() && engine::CheckConnectDoors()))
    GTEST_SKIP() << "this machine has no namespaces for replicas";
  StartServer();
  memory_->objects["b/o"] = "from the bucket";
  manifest_.set_metadata_host_name("me.metadata");
  PythonProgram(
      "import urllib.request\n"
      "print(urllib.request.urlopen('http://metadata.google.internal/storage/v1/b/b/o/o?alt=media')"
      ".read().decode())\n"
      "print(open('/etc/hosts').read().count('storage.googleapis.com'))\n");
  StartAgent();
  ASSERT_TRUE(WaitForHellos(1));
  StartAttempt();
  OpenBarrier();
  EXPECT_EQ(TakeOver().exit_code(), 0);
  EXPECT_EQ(UserLines(), (std::vector<std::string>{"INFO from the bucket", "INFO 1"}));
  EXPECT_TRUE(agents_server_->WaitFor([](const auto& memory) {
    return std::ranges::count(memory.paths, "/agent/v1/front/" + std::string(kAttempt)) == 1;
  }));
  EXPECT_TRUE(std::filesystem::exists(manifest_.places().environments_dir() + "/runtimes.d/mine.json"));
}

TEST_F(AgentTest, AShellsTerminalReachesTheServer) {
  StartRunningAttempt();
  v1::ToAgent::Request open;
  open.mutable_open_shell()->set_attempt_id(kAttempt);
  open.mutable_open_shell()->set_rows(24);
  open.mutable_open_shell()->set_columns(80);
  open.mutable_open_shell()->set_terminal("t-1");
  const auto answers = agents_server_->Ask(open);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(answers[0].code(), 0) << answers[0].message();
  v1::ToAgent resize;
  resize.mutable_resize()->set_terminal("t-1");
  resize.mutable_resize()->set_rows(31);
  resize.mutable_resize()->set_columns(97);
  agents_server_->Send(resize);
  agents_server_->Type("stty size; exit 3\n");
  EXPECT_TRUE(agents_server_->WaitFor([](const auto& memory) { return memory.terminals_ended == 1; }));
  EXPECT_TRUE(agents_server_->WaitFor([](const auto& memory) {
    return std::ranges::any_of(memory.frames, [](const v1::FromAgent& frame) {
      return frame.shell_ended().terminal() == "t-1" && frame.shell_ended().status() == 3;
    });
  }));
  EXPECT_TRUE(agents_server_->WaitFor([](const auto& memory) {
    return memory.shown.find("31 97") != std::string::npos &&
           std::ranges::count(memory.paths, "/agent/v1/terminal/t-1") == 1;
  }));
  Stop("enough");
  EXPECT_EQ(TakeOver().cause(), ExitRecord::STOPPED);
}

TEST_F(AgentTest, AnAbsenceOfTheServerEndsNothing) {
  StartRunningAttempt();
  agents_server_->Cut();
  ASSERT_TRUE(WaitForHellos(2));
  const std::vector<v1::FromAgent::Hello> hellos = Hellos();
  EXPECT_EQ(hellos[1].instance(), hellos[0].instance());
  EXPECT_EQ(hellos[1].node().port(), hellos[0].node().port());
  ASSERT_EQ(hellos[1].attempts_size(), 1);
  EXPECT_EQ(hellos[1].attempts(0).attempt_id(), kAttempt);
  EXPECT_EQ(hellos[1].attempts(0).state(), v1::AttemptFound::ALIVE);
  ASSERT_TRUE(WaitForAttachments(2));
  Stop("enough");
  EXPECT_EQ(TakeOver().cause(), ExitRecord::STOPPED);
}

TEST_F(AgentTest, AWorkerThatWasKilledLeavesTheAttemptToTheNext) {
  StartRunningAttempt();
  ASSERT_EQ(kill(Worker(), SIGKILL), 0);
  ASSERT_TRUE(WaitForHellos(2));
  const std::vector<v1::FromAgent::Hello> hellos = Hellos();
  EXPECT_EQ(hellos[1].instance(), hellos[0].instance());
  EXPECT_EQ(hellos[1].node().port(), hellos[0].node().port());
  ASSERT_EQ(hellos[1].attempts_size(), 1);
  EXPECT_EQ(hellos[1].attempts(0).state(), v1::AttemptFound::ALIVE);
  ASSERT_TRUE(WaitForAttachments(2));
  Stop("enough");
  EXPECT_EQ(TakeOver().cause(), ExitRecord::STOPPED);
  EXPECT_EQ(End(SIGTERM), ExitStatus());
}

TEST_F(AgentTest, ASignalOfTheClusterEndsTheAttempt) {
  StartRunningAttempt();
  ASSERT_TRUE(agents_.back().Kill(SIGTERM));
  EXPECT_EQ(TakeOver().cause(), ExitRecord::SHUT_DOWN);
  EXPECT_EQ(WaitForAgent(), ExitStatus());
  EXPECT_THAT(Endings(), testing::ElementsAre("the cluster ends the slot"));
}

TEST_F(AgentTest, AProgramThatGoesOnIsKilledBeforeTheClusterWould) {
  StartServer();
  Program("trap '' TERM; echo up; while :; do sleep 0.01; done");
  StartAgent();
  ASSERT_TRUE(WaitForHellos(1));
  StartAttempt();
  OpenBarrier();
  ASSERT_TRUE(WaitForLine("up"));
  ASSERT_TRUE(agents_.back().Kill(SIGTERM));
  EXPECT_EQ(TakeOver().cause(), ExitRecord::SHUT_DOWN);
  EXPECT_EQ(WaitForAgent(), ExitStatus());
}

TEST_F(AgentTest, NothingBeginsInAnEndingSlot) {
  StartRunningAttempt();
  ASSERT_TRUE(agents_.back().Kill(kNoticeSignal));
  ASSERT_TRUE(agents_server_->WaitFor([](const auto& memory) {
    return std::ranges::any_of(memory.frames, [](const auto& frame) { return frame.has_ending(); });
  }));
  v1::ToAgent::Request request;
  request.mutable_start()->mutable_manifest()->set_attempt_id("8-master-replica-0-1");
  const auto answers = agents_server_->Ask(request);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].code(), static_cast<int>(Code::kUnavailable));
  EXPECT_EQ(answers[0].message(), "the slot is ending: the cluster's time limit is reached");
  EXPECT_EQ(TakeOver().cause(), ExitRecord::SHUT_DOWN);
  EXPECT_EQ(WaitForAgent(), ExitStatus());
}

TEST_F(AgentTest, TheTimeLimitEndsTheSlotInTime) {
  constexpr std::chrono::seconds kToConnect{10};  // an agent that takes longer ends without a word
  const auto until = std::chrono::system_clock::now() + kLimitNotice + kToConnect;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until.time_since_epoch()).count();
  StartAgent({.variables = {"TRAINYARD_UNTIL=" + std::to_string(seconds)}});
  EXPECT_EQ(WaitForAgent(), ExitStatus());
  EXPECT_THAT(Endings(), testing::ElementsAre("the cluster's time limit is reached"));
}

TEST_F(AgentTest, AReleasedSlotEndsWithoutAWord) {
  StartRunningAttempt();
  v1::ToAgent release;
  release.mutable_release()->set_reason("the job has ended");
  agents_server_->Send(release);
  EXPECT_EQ(TakeOver().cause(), ExitRecord::SHUT_DOWN);
  EXPECT_EQ(WaitForAgent(), ExitStatus());
  EXPECT_TRUE(Endings().empty());
}

TEST_F(AgentTest, WhatAnEarlierOneLeftIsRemovedAtItsEndIfNotBefore) {
  std::string left;
  {
    const Result<NodeFolder> earlier = NodeFolder::Open(
        {.dir = folder_.path() + "/node", .node = "n1", .ticket = "an-earlier-ticket", .slot = 0});
    ASSERT_TRUE(earlier) << earlier.error().message;
    left = earlier->run_dir();
  }
  StartAgent();
  ASSERT_TRUE(WaitForWelcome());
  v1::ToAgent release;
  release.mutable_release()->set_reason("the job has ended");
  agents_server_->Send(release);
  EXPECT_EQ(WaitForAgent(), ExitStatus());
  EXPECT_FALSE(std::filesystem::exists(left));
}

}  // namespace
}  // namespace trainyard::agent
