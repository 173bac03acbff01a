#include "engine/testing/simulated_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine/testing/attempt_host_conformance.h"
#include "engine/testing/intruder.h"
#include "engine/testing/loop.h"
#include "engine/testing/simulated_attempt_host.h"

namespace trainyard::engine {
namespace {

namespace asio = boost::asio;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kToken = "its token";

/// A server that opens each barrier at once, acknowledges lines and dismisses each replica that has ended.
struct SimpleServer final : ReplicaLinkObserver {
  Status OnHello(std::shared_ptr<ReplicaLink>, const FromReplica::Hello& hello) override {
    if (hello.token() != kToken) return std::unexpected(PermissionDenied("another token"));
    ++hellos;
    return {};
  }
  asio::awaitable<void> OnFrame(std::shared_ptr<ReplicaLink> link, std::string, FromReplica frame) override {
    ToReplica answer;
    if (frame.phase_changed().phase() == replica::v1::RUNNING) runs = true;
    if (frame.has_log() && acknowledges) {
      TakeLines(frame.log());
      answer.mutable_log_ack()->set_next_line(next_line);
      link->Send(std::move(answer));
    } else if (frame.phase_changed().phase() == replica::v1::READY) {
      answer.mutable_cluster();
      link->Send(std::move(answer));
    } else if (frame.has_exit()) {
      exits.push_back(frame.exit());
      answer.mutable_dismiss();
      link->Send(std::move(answer));
    }
    co_return;
  }
  void OnClosed(const ReplicaLink*, const std::string&) override {}

  void TakeLines(const replica::v1::LogChunk& chunk) {
    replica::v1::LogLines all;
    all.ParseFromString(chunk.lines());
    for (std::int64_t number = chunk.first_line(); const replica::v1::LogLine& line : all.line()) {
      if (number++ < next_line) continue;
      ++next_line;
      if (!line.has_json()) lines.push_back(line.text());
    }
  }

  int hellos = 0;
  bool runs = false;
  bool acknowledges = true;
  std::int64_t next_line = 0;
  std::vector<std::string> lines;  ///< of the program
  std::vector<ExitRecord> exits;
};

std::string MakeFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "machine.XXXXXX").string();
  return ::mkdtemp(pattern.data());
}

class SimulatedHostWorld : public testing::Test {
 protected:
  SimulatedHostWorld() {
    machine_.Attach(server_);
    machine_.SetScript([this](const Manifest&) { return program_; });
    host_ = std::make_unique<SimulatedAttemptHost>(loop_.context.get_executor(), machine_);
  }
  Loop& loop() { return loop_; }
  AttemptHost& host() { return *host_; }
  static Manifest Order() {
    Manifest order;
    order.set_attempt_id(kConformanceAttempt);
    order.set_job_id("census");
    order.set_token(kToken);
    return order;
  }
  static Slot slot() {
    Slot slot;
    slot.mutable_devices()->add_gpus("0");
    return slot;
  }
  static AttemptRef ref() { return {.id = kConformanceAttempt}; }
  bool WaitUntilItRuns() {
    return loop_.RunUntil([this] { return server_.runs; });
  }
  bool LetEnd() {
    if (!WaitUntilItRuns()) return false;
    machine_.End(kConformanceAttempt, ExitedWith(4));
    return loop_.RunUntil([this] { return machine_.Alive().empty(); });
  }
  void Restart() {
    machine_.CutConnections();
    host_.reset();
    host_ = std::make_unique<SimulatedAttemptHost>(loop_.context.get_executor(), machine_);
  }

  Loop loop_;
  SimpleServer server_;
  SimulatedProgram program_;
  std::mt19937_64 random_{1};
  SimulatedMachine machine_{
      {.loop = loop_.context.get_executor(), .random = random_, .folder = MakeFolder()}};
  std::unique_ptr<SimulatedAttemptHost> host_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Simulated, AttemptHostConformance, testing::Types<SimulatedHostWorld>);

class SimulatedMachineTest : public SimulatedHostWorld {
 protected:
  SimulatedMachineTest() {
    program_.lines = {"a", "b", "c"};
    host_->SetOnGone([this](const std::string& id) { gone_.push_back(id); });
  }
  Status Start() { return loop_.Run(host_->Start(Order(), slot())); }
  bool RunUntilGone() {
    return loop_.RunUntil([this] { return !gone_.empty(); });
  }
  std::vector<std::string> gone_;
};

TEST_F(SimulatedMachineTest, LinesThatAreNotAcknowledgedAreSentAgain) {
  server_.acknowledges = false;
  ASSERT_TRUE(Start());
  ASSERT_TRUE(WaitUntilItRuns());
  server_.acknowledges = true;
  machine_.Reconnect(kConformanceAttempt);
  machine_.End(kConformanceAttempt, ExitedWith(0));
  ASSERT_TRUE(RunUntilGone());
  EXPECT_THAT(server_.lines, ElementsAre("a", "b", "c"));
  EXPECT_EQ(server_.exits.back().log_lines(), server_.next_line);
}

TEST_F(SimulatedMachineTest, WhatAKilledSupervisorStoredCanBeCollected) {
  server_.acknowledges = false;
  ASSERT_TRUE(Start());
  const auto stored = [this] {
    std::vector<std::string> texts;
    for (const replica::v1::LogChunk& chunk : *machine_.LinesOf(kConformanceAttempt, 0)) {
      replica::v1::LogLines all;
      all.ParseFromString(chunk.lines());
      for (const replica::v1::LogLine& line : all.line())
        if (!line.has_json()) texts.push_back(line.text());
    }
    return texts;
  };
  ASSERT_TRUE(loop_.RunUntil([&] { return stored().size() == 3; }));
  machine_.Lose(kConformanceAttempt);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_THAT(stored(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(loop_.Run(host_->Collect(ref(), 0))->exit.cause(), ExitRecord::LOST);
  EXPECT_EQ(machine_.outputs().at(kConformanceAttempt).promised, 3);
}

TEST_F(SimulatedMachineTest, AStoppedSupervisorDoesNothingUntilItContinues) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(WaitUntilItRuns());
  machine_.Pause(kConformanceAttempt);
  machine_.End(kConformanceAttempt, ExitedWith(0));
  loop_.Poll();
  EXPECT_THAT(server_.exits, IsEmpty());
  EXPECT_THAT(machine_.Working(), IsEmpty());
  EXPECT_EQ(machine_.StateOf(kConformanceAttempt), SimulatedMachine::State::kRunning);
  machine_.Continue(kConformanceAttempt);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_THAT(server_.lines, ElementsAre("a", "b", "c"));
}

TEST_F(SimulatedMachineTest, AShutdownEndsAProgram) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(WaitUntilItRuns());
  machine_.ShutDown(kConformanceAttempt, true);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(server_.exits.back().cause(), ExitRecord::SHUT_DOWN);
}

TEST_F(SimulatedMachineTest, ItSaysWhichArrowsOfTheLifecycleWereNeverMet) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(WaitUntilItRuns());
  const std::vector<std::string> lines = PrintCoverage(machine_.coverage());
  EXPECT_THAT(lines, Not(Contains("never met: kReady kLaunched")));
  EXPECT_THAT(lines, Contains("never met: kRunning kKillAsked"));
  EXPECT_THAT(lines.back(), HasSubstr("coverage: "));
}

TEST_F(SimulatedMachineTest, AfterAPowerCutNothingLives) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(WaitUntilItRuns());
  machine_.PowerCut();
  EXPECT_THAT(machine_.Alive(), IsEmpty());
  const AttemptState state = loop_.Run(host_->Inspect(ref())).state;
  EXPECT_TRUE(state == AttemptState::kLost || state == AttemptState::kAbsent);
}

TEST_F(SimulatedMachineTest, ARecordedEndOutlastsAPowerCut) {
  program_.preparation_error = FailedPrecondition("no packages");
  ASSERT_TRUE(Start());
  ASSERT_TRUE(loop_.RunUntil(
      [this] { return machine_.StateOf(kConformanceAttempt) == SimulatedMachine::State::kEnded; }));
  machine_.PowerCut();
  const auto remains = loop_.Run(host_->Collect(ref(), 0));
  ASSERT_TRUE(remains);
  EXPECT_EQ(remains->exit.cause(), ExitRecord::PREPARATION_FAILED);
  EXPECT_EQ(remains->chunks.size(), 1U);
}

struct FailedStart {
  SimulatedMachine::StartFault fault;
  bool succeeds;
  AttemptState state;
};

class SimulatedStartTest : public SimulatedMachineTest, public testing::WithParamInterface<FailedStart> {};

TEST_P(SimulatedStartTest, LeavesWhatARealOneLeaves) {
  machine_.FailNextStart(GetParam().fault);
  EXPECT_EQ(Start().has_value(), GetParam().succeeds);
  if (GetParam().succeeds) ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(loop_.Run(host_->Inspect(ref())).state, GetParam().state);
  EXPECT_TRUE(loop_.Run(host_->Kill(ref())));
  EXPECT_TRUE(loop_.Run(host_->Forget(ref())));
  EXPECT_THAT(machine_.List(), IsEmpty());
}

using enum SimulatedMachine::StartFault;
INSTANTIATE_TEST_SUITE_P(Faults, SimulatedStartTest,
                         testing::Values(FailedStart{kRefused, false, AttemptState::kAbsent},
                                         FailedStart{kNoManifest, false, AttemptState::kLost},
                                         FailedStart{kNotStarted, false, AttemptState::kLost},
                                         FailedStart{kAnswerLost, false, AttemptState::kAlive},
                                         FailedStart{kEndsAtOnce, true, AttemptState::kLost}));

TEST_F(SimulatedMachineTest, AnIntruderIsSeenIfItIsAccepted) {
  Intruder intruder(loop_.context.get_executor(), random_, server_);
  intruder.Learn(kConformanceAttempt, "not what it shows");
  while (intruder.Try() != "Hello with a wrong token") loop_.Poll();
  loop_.Poll();
  EXPECT_THAT(intruder.TakeViolations(), IsEmpty());
  intruder.Learn("8-master-replica-0-1", kToken);
  while (intruder.Try() != "Hello with the token of another attempt") loop_.Poll();
  ASSERT_TRUE(loop_.RunUntil([&] { return server_.hellos > 0; }));
  EXPECT_FALSE(intruder.TakeViolations().empty());
}

}  // namespace
}  // namespace trainyard::engine
