
#include <fstream>

#include "control/run/manifest.h"
#include "control/testing/world.h"

/// A server is killed and another one continues.
namespace trainyard::control {
namespace {

using engine::AttemptState;

FakeScript Runs() { return {.lines = {"a", "b"}, .exit = std::nullopt}; }

class RecoveryTest : public World {
 protected:
  void CreateRunning(const std::string& job_id, int workers = 0) {
    replicas_->SetScript([](const Manifest&) { return Runs(); });
    ASSERT_TRUE(Create(MakeJob(job_id, workers)));
    ASSERT_TRUE(WaitForState(job_id, Job::RUNNING));
  }
  void Restart() {
    KillServer();
    StartServer();
  }
  void Turns(int count) {
    for (int i = 0; i < count; ++i) Record("j");
  }
};

/// The server is killed after so many turns of the loop, counted from the create.
class Killed : public RecoveryTest, public testing::WithParamInterface<int> {};

TEST_P(Killed, AtAnyPointNothingIsStartedTwiceAndNoLineIsMissingOrDoubled) {
  for (int turn = GetParam(); turn < GetParam() + 10; ++turn) {
    const std::string job_id = "j" + std::to_string(turn);
    replicas_->SetScript([](const Manifest& manifest) {
      if (manifest.replica().type() == replica::v1::MASTER) return FakeScript{.lines = {"m1", "m2", "m3"}};
      if (manifest.attempt() == 1) return FakeScript{.lines = {"w"}, .exit = Exit(7)};
      return Runs();
    });
    Spawn(service_->Create("p", MakeJob(job_id, 1)));
    loop_.context.restart();
    for (int i = 0; i < turn; ++i) loop_.context.run_one_for(std::chrono::milliseconds(20));
    KillServer();
    std::map<std::string, int> ports;
    if (!Record(job_id).has_job()) {  // the create did not reach the store
      StartServer();
      continue;
    }
    for (const auto& replica : Record(job_id).replicas()) {
      if (replica.has_slot()) ports[replica.id().ShortDebugString()] = replica.slot().port();
    }
    StartServer();
    ASSERT_TRUE(WaitForEnd(job_id, Job::SUCCEEDED)) << turn;
    for (const auto& replica : Record(job_id).replicas()) {
      auto port = ports.find(replica.id().ShortDebugString());
      if (port != ports.end()) EXPECT_EQ(replica.slot().port(), port->second) << turn;
    }
    const Names lines = Lines(job_id, "service");
    for (const char* once :
         {"Validating job requirements...", "Waiting for job to be provisioned.", "Job is preparing.",
          "Job is running.", "Finished tearing down training program.", "Job completed successfully."}) {
      EXPECT_THAT(lines, Contains(once).Times(1)) << turn;
    }
    EXPECT_THAT(Lines(job_id, "master-replica-0"), ElementsAre("m1", "m2", "m3")) << turn;
    EXPECT_EQ(lines.back(), "Job completed successfully.") << turn;
  }
  ExpectNothingStartedTwice();
}

INSTANTIATE_TEST_SUITE_P(Turns, Killed, testing::Range(1, 121, 10));

/// The server is killed at each sync in turn: of the jobs and of their logs.
class KilledAtASync : public RecoveryTest, public testing::WithParamInterface<KillPoint::At> {
 protected:
  boost::asio::awaitable<void> Ask(std::string job_id, int workers) {
    answered_ = (co_await service_->Create("p", MakeJob(job_id, workers))).has_value();
  }
  /// False: the job ended before there were so many syncs.
  bool RunAndKill(const std::string& job_id, int workers, int sync) {
    answered_ = false;
    store_.kill.Arm(GetParam(), sync);
    Spawn(Ask(job_id, workers));
    EXPECT_TRUE(RunUntil([&] {
      return store_.kill.reached() || (answered_ && service_->registry().all().empty());
    })) << sync;
    const bool was_killed = store_.kill.reached();
    KillServer();
    store_.kill.Disarm();
    StartServer();
    return was_killed;
  }
  void ExpectWhole(const std::string& job_id, int sync) {
    ASSERT_TRUE(WaitForEnd(job_id, Job::SUCCEEDED)) << sync;
    EXPECT_THAT(Lines(job_id, "master-replica-0"), ElementsAre("m1", "m2", "m3")) << sync;
    const Names lines = Lines(job_id, "service");
    for (const std::string& line : lines) EXPECT_THAT(lines, Contains(line).Times(1)) << sync;
    EXPECT_EQ(lines.back(), "Job completed successfully.") << sync;
  }

  bool answered_ = false;
};

TEST_P(KilledAtASync, AJobOfOneReplicaHasEachEventOnce) {
  replicas_->SetScript([](const Manifest&) { return FakeScript{.lines = {"m1", "m2", "m3"}}; });
  int sync = 1;
  for (bool was_killed = true; was_killed; ++sync) {
    const std::string job_id = "j" + std::to_string(sync);
    was_killed = RunAndKill(job_id, 0, sync);
    if (!answered_ && !Record(job_id).has_job()) continue;
    ExpectWhole(job_id, sync);
    EXPECT_THAT(EventNames(job_id), ElementsAre("Created", "Admitted", "Launched", "Running", "ReplicaEnded",
                                                "Concluded", "Ended"))
        << sync;
  }
  EXPECT_GE(sync, 6) << "jobs: created, running, ended; logs: the service's lines, the replica's, the end's";
  ExpectNothingStartedTwice();
}

TEST_P(KilledAtASync, AGangWithARestartIsWhole) {
  replicas_->SetScript([](const Manifest& manifest) {
    if (manifest.replica().type() == replica::v1::MASTER) return FakeScript{.lines = {"m1", "m2", "m3"}};
    if (manifest.attempt() == 1) return FakeScript{.lines = {"w"}, .exit = Exit(7)};
    return Runs();
  });
  bool was_killed = true;
  for (int sync = 1; was_killed; ++sync) {
    const std::string job_id = "j" + std::to_string(sync);
    was_killed = RunAndKill(job_id, 1, sync);
    if (answered_ || Record(job_id).has_job()) ExpectWhole(job_id, sync);
  }
  ExpectNothingStartedTwice();
}

INSTANTIATE_TEST_SUITE_P(Syncs, KilledAtASync,
                         testing::Values(KillPoint::At::kBefore, KillPoint::At::kUnseen,
                                         KillPoint::At::kAfter));

TEST_F(RecoveryTest, ARunningJobRunsOn) {
  CreateRunning("j", 2);
  const std::string before = Record("j").ShortDebugString();
  Restart();
  Turns(50);
  EXPECT_EQ(Record("j").ShortDebugString(), before);
  EXPECT_THAT(replicas_->started(), SizeIs(3));
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(Lines("j", "worker-replica-1"), ElementsAre("a", "b"));
  EXPECT_THAT(Lines("j", "service"), Contains("Job is running.").Times(1));
}

TEST_F(RecoveryTest, AnEndWhileThereWasNoServerIsFound) {
  CreateRunning("j");
  KillServer();
  replicas_->End("1-master-replica-0-1", Exit(0));
  replicas_->Lose("1-master-replica-0-1");
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(replicas_->started(), SizeIs(1));
}

TEST_F(RecoveryTest, ALostOneIsStartedAgain) {
  CreateRunning("j");
  KillServer();
  replicas_->Lose("1-master-replica-0-1");
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 2);
  EXPECT_THAT(Lines("j", "master-replica-0"), ElementsAre("a", "b"));
}

/// The state after a restore without the attempts' files.
TEST_F(RecoveryTest, OneThatRanAndOfWhichNothingIsLeftIsStartedAgainUnderANewNumber) {
  CreateRunning("j");
  ASSERT_TRUE(RunUntil([this] { return Lines("j", "master-replica-0").size() == 2; }));
  KillServer();
  replicas_->Lose("1-master-replica-0-1");
  ASSERT_TRUE(Await(replicas_->Forget({.id = "1-master-replica-0-1"})));
  replicas_->SetScript([](const Manifest&) { return FakeScript{.lines = {"c", "d", "e"}}; });
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 2);
  EXPECT_THAT(Lines("j", "master-replica-0"), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(RecoveryTest, NothingIsStartedWhileTheEngineCannotTell) {
  CreateRunning("j", 1);
  KillServer();
  host_->inspect_error = PermissionDenied("permission denied");
  for (const char* attempt : {"1-master-replica-0-1", "1-worker-replica-0-1"}) replicas_->Lose(attempt);
  StartServer();
  Turns(100);
  EXPECT_THAT(replicas_->started(), SizeIs(2));
  EXPECT_EQ(Get("j").state(), Job::RUNNING);
  ml::v1::Job labels;
  EXPECT_TRUE(Await(service_->Patch({"p", "j"}, labels, "labels"))) << "the API answers meanwhile";
  host_->inspect_error.reset();
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 4; }));
  ExpectNothingStartedTwice();
}

TEST_F(RecoveryTest, WhatWasLaunchedAndNeverStartedIsStarted) {
  host_->start_errors.assign(1'000'000, Unavailable("no"));
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(RunUntil([this] { return Record("j").replicas(0).attempt() == 1; }));
  KillServer();
  host_->start_errors.clear();
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 1);
}

TEST_F(RecoveryTest, ACancelGoesOn) {
  CreateRunning("j", 1);
  wire_.server = nullptr;  // the replicas receive nothing
  ASSERT_TRUE(Cancel("j"));
  Restart();
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("Job is being cancelled.")).Times(1));
}

TEST_F(RecoveryTest, PortsStayTheirOwnersAlsoForThoseWhoWereAdmittedByFormerServers) {
  capacity_ = {.mode = placement::Capacity::Mode::kShare, .cpus = 1, .memory_bytes = 1 << 30};
  Restart();
  replicas_->SetScript([](const Manifest&) { return Runs(); });
  // "low" waits while "high", which came later, runs: the new server must not admit "low" first.
  ASSERT_TRUE(Create(MakeJob("big", 3)));
  ASSERT_TRUE(WaitForState("big", Job::RUNNING));
  ASSERT_TRUE(Create(MakeJob("low", 3)));
  Job high = MakeJob("high", 3);
  high.mutable_training_input()->mutable_scheduling()->set_priority(1000);
  ASSERT_TRUE(Create(high));
  Turns(20);
  ASSERT_TRUE(Cancel("big"));
  ASSERT_TRUE(WaitForState("high", Job::RUNNING));
  Restart();
  Turns(100);
  EXPECT_EQ(Get("low").state(), Job::QUEUED);
  EXPECT_EQ(Get("low").job_position(), 1);
  capacity_.cpus = 64;
  Restart();
  ASSERT_TRUE(WaitForState("low", Job::RUNNING));
  std::set<int> ports;
  for (const char* job_id : {"high", "low"}) {
    for (const v1::ReplicaRecord& replica : Record(job_id).replicas()) ports.insert(replica.slot().port());
  }
  EXPECT_THAT(ports, SizeIs(8));
}

TEST_F(RecoveryTest, NobodyChangesJobsBeforeAllAreTakenOver) {
  CreateRunning("j");
  KillServer();
  MakeServer();
  int done = 0;
  boost::asio::co_spawn(loop_.context, service_->Create("p", MakeJob("k")),
                        [&done](const std::exception_ptr&, const Result<Job>&) { ++done; });
  boost::asio::co_spawn(loop_.context, service_->Cancel({"p", "j"}),
                        [&done](const std::exception_ptr&, const Status&) { ++done; });
  Turns(20);
  EXPECT_EQ(done, 0);
  EXPECT_FALSE(Record("k").has_job());
  EXPECT_EQ(Get("j").state(), Job::RUNNING) << "who only looks need not wait";
  ASSERT_TRUE(Await(service_->Recover()));
  ASSERT_TRUE(RunUntil([&done] { return done == 2; }));
  EXPECT_TRUE(Record("k").has_job());
}

TEST_F(RecoveryTest, AttemptsOfJobsThatHaveEndedOrNeverWereAreForgotten) {
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  KillServer();
  replicas_->Leave({.id = "1-master-replica-0-1"}, AttemptState::kEnded);
  replicas_->Leave({.id = "77-worker-replica-3-2"}, AttemptState::kLost);
  replicas_->Leave({.id = "78-master-replica-0-1"}, AttemptState::kAlive);
  StartServer();
  ASSERT_TRUE(RunUntil([&] { return !IsKept("77-worker-replica-3-2") && !IsKept("1-master-replica-0-1"); }));
  Turns(20);
  EXPECT_TRUE(IsKept("78-master-replica-0-1"));
  replicas_->Leave({.id = "78-master-replica-0-1"}, AttemptState::kEnded);
  host_->SayGone("78-master-replica-0-1");
  EXPECT_TRUE(RunUntil([&] { return !IsKept("78-master-replica-0-1"); }));
}

TEST_F(RecoveryTest, PreviousAttemptsOfARunningJobAreForgottenToo) {
  CreateRunning("j", 1);
  replicas_->Lose("1-worker-replica-0-1");
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 3; }));
  ASSERT_TRUE(RunUntil([this] { return !host_->forgotten.empty(); }));
  KillServer();
  replicas_->Leave({.id = "1-worker-replica-0-1"}, AttemptState::kEnded);
  StartServer();
  ASSERT_TRUE(RunUntil([&] { return !IsKept("1-worker-replica-0-1"); }));
  EXPECT_TRUE(IsKept("1-worker-replica-0-2"));
  replicas_->End("1-master-replica-0-1", Exit(0));
  EXPECT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

/// The server died between ReplicaEnded and the supervisor's dismissal.
TEST_F(RecoveryTest, AnEndedSupervisorThatWasNotDismissedIsDismissedAndForgotten) {
  CreateRunning("j", 1);
  replicas_->End("1-worker-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return !host_->forgotten.empty(); }));
  KillServer();
  replicas_->Leave({.id = "1-worker-replica-0-1"}, AttemptState::kAlive);
  StartServer();
  replicas_->End("1-master-replica-0-1", Exit(0));
  auto link = std::make_shared<RecordingLink>();
  engine::FromReplica::Hello hello;
  hello.set_attempt_id("1-worker-replica-0-1");
  hello.set_token(AttemptToken(settings_, hello.attempt_id()));
  hello.set_phase(replica::v1::ENDED);
  ASSERT_TRUE(service_->gateway().OnHello(link, hello));
  ASSERT_THAT(link->sent, SizeIs(1));
  EXPECT_TRUE(link->sent[0].has_dismiss());
  Turns(20);
  EXPECT_TRUE(IsKept("1-worker-replica-0-1"));
  replicas_->Leave({.id = "1-worker-replica-0-1"}, AttemptState::kEnded);
  host_->SayGone("1-worker-replica-0-1");
  EXPECT_TRUE(RunUntil([&] { return !IsKept("1-worker-replica-0-1"); }));
  EXPECT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(RecoveryTest, AQueueOfManyJobsIsThereAgain) {
  capacity_ = {.mode = placement::Capacity::Mode::kShare, .cpus = 1, .memory_bytes = 1 << 30};
  Restart();
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Create(MakeJob("j" + std::to_string(i))));
  Restart();
  for (int i = 0; i < 50; ++i) {
    const std::string job_id = "j" + std::to_string(i);
    ASSERT_TRUE(RunUntil([&] { return Record(job_id).job().state() == Job::SUCCEEDED; })) << job_id;
    EXPECT_THAT(Lines(job_id, "service"), SizeIs(10)) << job_id;
  }
  ExpectNothingStartedTwice();
}

/// The machine has room for one job, which runs; three others wait.
class WaitingJobsTest : public RecoveryTest {
 protected:
  WaitingJobsTest() {
    KillServer();
    capacity_ = {
        .mode = placement::Capacity::Mode::kStrict, .cpus = 4, .memory_bytes = std::int64_t{1} << 40};
    StartServer();
    CreateRunning("runs");
    for (const char* job_id : {"a", "b", "c"}) EXPECT_TRUE(Create(MakeJob(job_id)));
    KillServer();
    logs_->are_uncountable = true;
    StartServer();
  }
  boost::asio::awaitable<void> AskFor(std::string job_id) {
    created_ = (co_await service_->Create("p", MakeJob(job_id))).has_value();
  }
  boost::asio::awaitable<void> AskToCancel(std::string job_id) {
    cancelled_ = (co_await service_->Cancel({"p", job_id})).has_value();
  }

  bool created_ = false;
  bool cancelled_ = false;
};

TEST_F(WaitingJobsTest, TheApiAnswersWhileTheyAreTakenOver) {
  Spawn(AskFor("new"));
  Spawn(AskToCancel("b"));
  EXPECT_EQ(Await(service_->List({.project = "p"}))->jobs_size(), 4);
  EXPECT_EQ(Get("a").state(), Job::QUEUED);
  EXPECT_TRUE(Await(service_->Describe({"p", "a"})));
  EXPECT_THAT(Lines("a", "service"), Contains("Job a is queued."));
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return Get("runs").state() == Job::SUCCEEDED; })) << "living ones come first";
  Turns(50);
  EXPECT_THAT(replicas_->started(), SizeIs(1)) << "none has room before all have asked";
  EXPECT_FALSE(created_ || cancelled_);

  logs_->are_uncountable = false;
  ASSERT_TRUE(WaitForEnd("b", Job::CANCELLED));
  ASSERT_TRUE(RunUntil([this] { return created_ && Record("new").job().state() == Job::SUCCEEDED; }));
  EXPECT_TRUE(cancelled_);
  Names order;
  for (const Manifest& manifest : replicas_->started()) order.push_back(manifest.attempt_id());
  EXPECT_THAT(order, ElementsAre("1-master-replica-0-1", "2-master-replica-0-1", "4-master-replica-0-1",
                                 "5-master-replica-0-1"))
      << "runs, a, c, and new, which must not overtake";
  for (const char* job_id : {"a", "c", "new"})
    EXPECT_THAT(Lines(job_id, "service"), Contains("Waiting for job to be provisioned.").Times(1)) << job_id;
}

}  // namespace
}  // namespace trainyard::control
