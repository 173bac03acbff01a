#include "control/run/job_runner.h"

#include "control/testing/world.h"
#include "rules/jobs/restart_policy.h"

namespace trainyard::control {
namespace {

const Names kLinesUpToRunning = {"Validating job requirements...",
                                 "Job creation request has been successfully validated.",
                                 "Job j is queued.",
                                 "Waiting for job to be provisioned.",
                                 "Waiting for training program to start.",
                                 "Job is preparing.",
                                 "Job is running."};

Names Plus(Names lines, const Names& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

FakeScript Runs() { return {.exit = std::nullopt}; }

Job MakeSecretJob(Job job) {
  ml::v1::EnvVar& secret = *job.mutable_training_input()->add_env();
  secret.set_name("TOKEN");
  secret.set_value("hunter2");
  secret.set_secret(true);
  return job;
}

class JobRunnerTest : public World {
 protected:
  /// Creates a job whose replicas run until told otherwise, and waits until they run.
  void CreateRunning(int workers = 0) {
    replicas_->SetScript([](const Manifest&) { return Runs(); });
    ASSERT_TRUE(Create(MakeJob("j", workers)));
    ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  }
};

TEST_F(JobRunnerTest, ALifeInOrder) {
  replicas_->SetScript([](const Manifest&) { return FakeScript{.lines = {"a", "b"}}; });
  Result<Job> created = Create(MakeJob("j"));
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->state(), Job::QUEUED);
  EXPECT_EQ(created->etag(), "1");
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(EventNames("j"), ElementsAre("Created", "Admitted", "Launched", "Running", "ReplicaEnded",
                                           "Concluded", "Ended"));
  EXPECT_THAT(Lines("j", "service"),
              testing::ElementsAreArray(Plus(kLinesUpToRunning, {"Finished tearing down training program.",
                                                                 "Job completed successfully."})));
  EXPECT_THAT(Lines("j", "master-replica-0"), ElementsAre("a", "b"));
  EXPECT_THAT(Lines("j").back(), HasSubstr("Job completed successfully."));
  EXPECT_EQ(replicas_->started().at(0).attempt_id(), "1-master-replica-0-1");
  ExpectNothingStartedTwice();
}

TEST_F(JobRunnerTest, AGangMeetsAtTheBarrierAndTheMasterDecides) {
  replicas_->SetScript([](const Manifest& manifest) {
    return manifest.replica().type() == replica::v1::MASTER ? FakeScript{} : Runs();
  });
  ASSERT_TRUE(Create(MakeJob("j", 3)));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(replicas_->started(), SizeIs(4));
  const v1::JobRecord record = Record("j");
  std::set<int> ports;
  for (const v1::ReplicaRecord& replica : record.replicas()) {
    ports.insert(replica.endpoint().port());
    EXPECT_EQ(replica.exit().cause(),
              replica.id().type() == replica::v1::MASTER ? ExitRecord::EXITED : ExitRecord::STOPPED);
  }
  EXPECT_THAT(ports, SizeIs(4));
}

TEST_F(JobRunnerTest, OneThatCannotPrepareFailsTheGangBeforeAnyUserCode) {
  replicas_->SetScript([](const Manifest& manifest) {
    FakeScript script{.lines = {"user code"}};
    if (manifest.replica().type() != replica::v1::WORKER) return script;
    script.preparation.emplace().set_cause(ExitRecord::PREPARATION_FAILED);
    script.preparation->set_message("pip: No matching distribution found for nothing");
    return script;
  });
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_THAT(Record("j").job().error_message(), HasSubstr("No matching distribution found for nothing"));
  EXPECT_THAT(Lines("j"), Not(Contains(HasSubstr("user code"))));
  EXPECT_THAT(EventNames("j"), Not(Contains("Running")));
}

TEST_F(JobRunnerTest, AJobWhoseSecretIsGoneFailsAndHoldsNothing) {
  const Job job = MakeSecretJob(MakeJob("j"));
  admissions_->Set(engine::Stop::kDrained, {.reason = "It is drained."});  // else it starts with its creation
  ASSERT_TRUE(Create(job));
  std::filesystem::remove_all(folder_ / "secrets");
  admissions_->Clear(engine::Stop::kDrained);
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_THAT(Get("j").error_message(), HasSubstr("TOKEN"));
  EXPECT_TRUE(WaitUntilQuiet());
}

TEST_F(JobRunnerTest, AJobsSecretsEndWithIt) {
  const Job job = MakeSecretJob(MakeJob("j"));
  std::atomic<bool> has_value = false;
  replicas_->SetScript([&has_value](const Manifest& manifest) {
    const auto value = manifest.environment().find("TOKEN");
    has_value = value != manifest.environment().end() && value->second == "hunter2";
    return FakeScript{};
  });
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_TRUE(has_value);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "secrets"));
}

TEST_F(JobRunnerTest, SecretsAreThereUntilItIsDurableThatNothingStartsAgain) {
  replicas_->SetScript([](const Manifest&) { return Runs(); });
  ASSERT_TRUE(Create(MakeSecretJob(MakeJob("j"))));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  store_.full = true;
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return store_.refused > 5; }));
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "secrets"));
  store_.full = false;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "secrets"));
}

TEST_F(JobRunnerTest, AWorkerIsRestartedFiveTimesThenTheJobThreeTimes) {
  replicas_->SetScript([](const Manifest& manifest) {
    return manifest.replica().type() == replica::v1::MASTER ? Runs() : FakeScript{.exit = Exit(134)};
  });
  ASSERT_TRUE(Create(MakeJob("j", 1)));
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_THAT(replicas_->started(), SizeIs(4 * (6 + 1)));
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("The replica is restarted (5 of 5).")).Times(4));
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("now the whole job is retried")).Times(3));
  std::set<int> worker_ports;
  for (const Manifest& manifest : replicas_->started()) {
    if (manifest.replica().type() == replica::v1::WORKER) worker_ports.insert(manifest.port());
  }
  EXPECT_THAT(worker_ports, SizeIs(1)) << "a port stays the replica's over restarts";
  ExpectNothingStartedTwice();
}

TEST_F(JobRunnerTest, ALostSupervisorIsRestartedAndTheLogSaysWhy) {
  CreateRunning(1);
  replicas_->Lose("1-worker-replica-0-1");
  ASSERT_TRUE(RunUntil([this] { return Record("j").replicas(1).attempt() == 2; }));
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 3; }));
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(EventNames("j"), Contains("RestartDecided").Times(1));
  EXPECT_THAT(host_->forgotten, Contains("1-worker-replica-0-1"));
}

TEST_F(JobRunnerTest, WhatALostSupervisorLeftIsCollected) {
  replicas_->SetScript([](const Manifest&) { return FakeScript{.lines = {"a", "b"}, .exit = std::nullopt}; });
  logs_->full = true;  // nothing is acknowledged
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  replicas_->Lose("1-master-replica-0-1");
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  EXPECT_TRUE(RunUntil([this] { return logs_->refused > 20; }));
  logs_->full = false;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(Lines("j", "master-replica-0"), ElementsAre("a", "b"));
}

TEST_F(JobRunnerTest, RemainsThatCannotBeReadAreALostAttempt) {
  CreateRunning();
  host_->collect_error = Internal("input/output error");
  replicas_->Lose("1-master-replica-0-1");
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  ExpectNothingStartedTwice();
}

TEST_F(JobRunnerTest, AnAttemptThatLivesAfterAllIsNotLost) {
  CreateRunning();
  host_->SayGone("1-master-replica-0-1");  // a wrong report: Collect says that it is still running
  for (int i = 0; i < 50; ++i) Record("j");
  EXPECT_THAT(replicas_->started(), SizeIs(1));
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return Record("j").job().has_end_time(); }));
  EXPECT_EQ(Record("j").job().state(), Job::SUCCEEDED);
}

TEST_F(JobRunnerTest, AMissingMachineResourceIsWaitedOut) {
  const Error no_room{Code::kUnavailable, "Resource temporarily unavailable", ""};
  host_->start_errors = {no_room, {Code::kResourceExhausted, "No space left on device", ""}, no_room};
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 1);
  EXPECT_THAT(EventNames("j"), Not(Contains("RestartDecided")));
}

TEST_F(JobRunnerTest, AStartThatHasToWaitIsSaidWithItsReason) {
  host_->start_errors.assign(100'000, {Code::kUnavailable, "the keeper does not answer", ""});
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::PREPARING));
  const auto is_said = [this] {
    clock_.Advance(std::chrono::seconds(1));
    const auto has_reason = HasSubstr("cannot be started now: the keeper does not answer.");
    return testing::Value(Lines("j", "service"), Contains(has_reason));
  };
  ASSERT_TRUE(RunUntil(is_said));
  host_->start_errors.clear();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(JobRunnerTest, AWaitForAMachineResourceCanBeCancelled) {
  host_->start_errors.assign(100'000, {Code::kResourceExhausted, "No space left on device", ""});
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::PREPARING));
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(replicas_->started(), IsEmpty());
}

TEST_F(JobRunnerTest, AStartThatFailsIsALostAttempt) {
  host_->start_errors = {{Code::kInternal, "exec format error", ""}};
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 2);
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("exec format error")));
}

TEST_F(JobRunnerTest, AStartThatFailedHalfwayIsEndedBeforeTheNext) {
  replicas_->SetScript(
      [](const Manifest& manifest) { return manifest.attempt() == 1 ? Runs() : FakeScript{}; });
  host_->start_errors = {{Code::kUnavailable, "pidfd_open: Too many open files", ""}};
  host_->starts_all_the_same = true;
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(host_->killed, ElementsAre("1-master-replica-0-1"));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 2);
  ExpectNothingStartedTwice();
}

TEST_F(JobRunnerTest, CancelWhileRunning) {
  CreateRunning(1);
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(Cancel("j")) << "again";
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(Lines("j", "service"),
              testing::ElementsAreArray(
                  Plus(kLinesUpToRunning, {"Job is being cancelled. Cancelled by the user.",
                                           "Finished tearing down training program.", "Job cancelled."})));
  EXPECT_THAT(EventNames("j"), Contains("CancelRequested").Times(1));
}

TEST_F(JobRunnerTest, CancelWhilePreparing) {
  replicas_->SetScript(
      [](const Manifest&) { return FakeScript{.start = std::unexpected(Unavailable("no"))}; });
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForState("j", Job::PREPARING));
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(Lines("j"), Not(Contains(HasSubstr("Job is running."))));
}

TEST_F(JobRunnerTest, WaitTimeThatIsOverCancels) {
  replicas_->SetScript(
      [](const Manifest&) { return FakeScript{.start = std::unexpected(Unavailable("no"))}; });
  Job job = MakeJob("j");
  job.mutable_training_input()->mutable_scheduling()->mutable_max_wait_time()->set_seconds(1800);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForState("j", Job::PREPARING));
  clock_.Advance(std::chrono::seconds(1799));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Record("j").job().state(), Job::PREPARING);
  clock_.Advance(std::chrono::seconds(1));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(Record("j").job().error_message(), HasSubstr("maximum wait time of 1800s"));
}

TEST_F(JobRunnerTest, OneThatDoesNotStopIsKilled) {
  CreateRunning();
  wire_.server = nullptr;  // the server cannot reach it
  replicas_->Reconnect("1-master-replica-0-1");
  for (int i = 0; i < 20; ++i) Record("j");
  ASSERT_TRUE(Cancel("j"));
  clock_.Advance(settings_.stop_grace + jobs::kKillAfter - std::chrono::seconds(1));
  ASSERT_TRUE(Cancel("j"));
  for (int i = 0; i < 50; ++i) Record("j");
  EXPECT_THAT(host_->killed, IsEmpty());
  clock_.Advance(std::chrono::seconds(2));
  ml::v1::Job labels;
  ASSERT_TRUE(Await(service_->Patch({"p", "j"}, labels, "labels"))) << "wakes it";
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(host_->killed, ElementsAre("1-master-replica-0-1"));
}

TEST_F(JobRunnerTest, AFullDiskIsWaitedOutAndNothingIsSaidTwice) {
  CreateRunning();
  store_.full = true;
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return store_.refused > 5; }));
  EXPECT_EQ(Cancel("j").error().code, Code::kResourceExhausted);
  EXPECT_EQ(Create(MakeJob("k")).error().code, Code::kResourceExhausted);
  EXPECT_EQ(Await(service_->Get({"p", "j"})).error().code, Code::kResourceExhausted);
  EXPECT_EQ(Await(service_->List({.project = "p"})).error().code, Code::kResourceExhausted);
  store_.full = false;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(Lines("j", "service"),
              testing::ElementsAreArray(Plus(kLinesUpToRunning, {"Finished tearing down training program.",
                                                                 "Job completed successfully."})));
}

TEST_F(JobRunnerTest, AnEndThatCannotBeRecordedIsSaidOnce) {
  CreateRunning();
  logs_->full = true;
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return logs_->refused > 5; }));
  EXPECT_FALSE(Record("j").job().has_end_time()) << "its log is not complete";
  store_.full = true;
  logs_->full = false;
  ASSERT_TRUE(RunUntil([this] { return store_.refused > 5; }));
  store_.full = false;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(Lines("j", "service"), Contains("Job completed successfully.").Times(1));
}

TEST_F(JobRunnerTest, AFullLogDoesNotHoldUpTheApi) {
  CreateRunning();
  logs_->full = true;
  replicas_->End("1-master-replica-0-1", Exit(0));
  ASSERT_TRUE(RunUntil([this] { return logs_->refused > 5; }));
  Job patch;
  (*patch.mutable_labels())["a"] = "b";
  EXPECT_TRUE(Await(service_->Patch({"p", "j"}, patch, "labels")));
  logs_->full = false;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(JobRunnerTest, AWriteThatSucceededAgainstAllReportsIsFoundAndSaidOnce) {
  CreateRunning();
  store_.lies = true;
  EXPECT_EQ(Cancel("j").error().code, Code::kResourceExhausted);
  EXPECT_TRUE(Cancel("j").has_value() || Cancel("j").has_value());
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(EventNames("j"), Contains("CancelRequested").Times(1));
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("Job is being cancelled.")).Times(1));
}

}  // namespace
}  // namespace trainyard::control
