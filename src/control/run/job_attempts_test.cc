#include "control/run/job_attempts.h"

#include <map>

#include "control/run/manifest.h"
#include "control/testing/world.h"

/// Attempts whose supervisors misbehave.
namespace trainyard::control {
namespace {

using engine::AttemptState;

class JobAttemptsTest : public World {
 protected:
  JobAttemptsTest() { settings_.attach_wait = std::chrono::milliseconds(1); }
  void CreateRunning() {
    replicas_->SetScript([](const Manifest& manifest) {
      return FakeScript{.lines = {"a"},
                        .exit = manifest.attempt() == 1 ? std::nullopt : std::optional(Exit(0))};
    });
    ASSERT_TRUE(Create(MakeJob("j")));
    ASSERT_TRUE(WaitForState("j", Job::RUNNING));
    ASSERT_TRUE(RunUntil([this] { return Lines("j", "master-replica-0").size() == 1; }));
  }
  std::string Waiting() {
    const auto status = Await(service_->Describe({"p", "j"}));
    return status ? status->waiting().reason() : status.error().message;
  }

  static constexpr const char* kAttempt = "1-master-replica-0-1";
};

TEST_F(JobAttemptsTest, AnEndThatIsOnDiskAndNotHandedOverIsCollected) {
  CreateRunning();
  KillServer();
  replicas_->End(kAttempt, Exit(0));
  silent_ = {kAttempt};
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(host_->killed, ElementsAre(kAttempt));
  EXPECT_THAT(Lines("j", "master-replica-0"), ElementsAre("a"));
}

TEST_F(JobAttemptsTest, OneWithATokenOfAnotherSecretIsEndedAndStartedAgain) {
  CreateRunning();
  KillServer();
  settings_.keys = Keys::Derive("another");
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(host_->killed, ElementsAre(kAttempt));
  EXPECT_EQ(Record("j").replicas(0).attempt(), 2);
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("with another secret")));
}

TEST_F(JobAttemptsTest, OneThatDoesNotConnectIsWaitedForAndSaid) {
  CreateRunning();
  KillServer();
  silent_ = {kAttempt};
  StartServer();
  ASSERT_TRUE(RunUntil([this] { return Waiting().find("has not been connected") != std::string::npos; }));
  EXPECT_THAT(host_->killed, IsEmpty());
  EXPECT_THAT(replicas_->started(), SizeIs(1));
  replicas_->Reconnect(kAttempt);
  ASSERT_TRUE(RunUntil([this] { return Waiting().empty(); }));
  replicas_->End(kAttempt, Exit(0));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(JobAttemptsTest, ACancelEndsOneThatDoesNotConnect) {
  settings_.stop_grace = std::chrono::milliseconds(0);
  CreateRunning();
  KillServer();
  silent_ = {kAttempt};
  StartServer();
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(host_->killed, ElementsAre(kAttempt));
}

TEST_F(JobAttemptsTest, WhatCannotBeFoundOutIsSaid) {
  CreateRunning();
  KillServer();
  host_->inspect_error = Internal("open /d: Input/output error");
  silent_ = {kAttempt};
  StartServer();
  ASSERT_TRUE(RunUntil([this] { return Waiting().find("Input/output error") != std::string::npos; }));
  EXPECT_THAT(replicas_->started(), SizeIs(1));
}

TEST_F(JobAttemptsTest, OneThatWasDismissedAndStaysIsKilled) {
  settings_.dismiss_wait = std::chrono::milliseconds(1);
  CreateRunning();
  auto link = std::make_shared<RecordingLink>();  // receives the dismissal, and does nothing
  engine::FromReplica::Hello hello;
  hello.set_attempt_id(kAttempt);
  hello.set_token(AttemptToken(settings_, kAttempt));
  ASSERT_TRUE(service_->gateway().OnHello(link, hello));
  engine::FromReplica end;
  *end.mutable_exit() = Exit(0);
  auto send = [](JobService& service, std::shared_ptr<RecordingLink> to,
                 engine::FromReplica frame) -> boost::asio::awaitable<bool> {
    co_await service.gateway().OnFrame(to, kAttempt, std::move(frame));
    co_return true;
  };
  Await(send(*service_, link, end));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_TRUE(link->sent.back().has_dismiss());
  EXPECT_THAT(host_->killed, ElementsAre(kAttempt));
}

TEST_F(JobAttemptsTest, AnOrphanThatStaysIsKilled) {
  KillServer();
  replicas_->Leave({.id = "78-master-replica-0-1"}, AttemptState::kAlive);
  StartServer();
  ASSERT_TRUE(RunUntil([this] { return !IsKept("78-master-replica-0-1"); }));
  EXPECT_THAT(host_->killed, ElementsAre("78-master-replica-0-1"));
}

TEST_F(JobAttemptsTest, NoReplicaStartsOnADiskWithoutRoom) {
  CreateRunning();
  has_space_ = false;
  replicas_->Lose(kAttempt);
  ASSERT_TRUE(RunUntil([this] { return Waiting() == "A replica waits to be started. the disk is full."; }));
  EXPECT_THAT(replicas_->started(), SizeIs(1));
  has_space_ = true;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(JobAttemptsTest, WhatTheMachineWasTooShortOfDoesNotCount) {
  replicas_->SetScript([](const Manifest& manifest) {
    if (manifest.attempt() > 1) return FakeScript{};
    replica::v1::ExitRecord exit;
    exit.set_cause(replica::v1::ExitRecord::PREPARATION_FAILED);
    exit.set_shortage(true);
    exit.set_message("clone: Resource temporarily unavailable");
    return FakeScript{.preparation = exit};
  });
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(RunUntil([this] { return Waiting().find("temporarily unavailable") != std::string::npos; }));
  EXPECT_EQ(Record("j").replicas(0).restarts(), 0);
  EXPECT_EQ(Get("j").state(), Job::PREPARING);
}

TEST_F(JobAttemptsTest, ProgramsOfVertexAiGetTheirProjectsNumber) {
  std::map<std::string, std::string> told;  // by the job's id
  replicas_->SetScript([&told](const Manifest& manifest) {
    const auto found = manifest.environment().find("CLOUD_ML_PROJECT_ID");
    told[manifest.job_id()] = found == manifest.environment().end() ? "" : found->second;
    return FakeScript{.exit = Exit(0)};
  });
  Job vertex = MakeJob("vertex");
  vertex.mutable_training_input()->set_program_variables(ml::v1::TrainingInput::VERTEX_AI);
  Job own = vertex;
  own.set_job_id("own");
  ml::v1::EnvVar& variable = *own.mutable_training_input()->add_env();
  variable.set_name("CLOUD_ML_PROJECT_ID");
  variable.set_value("mine");
  for (const Job& job : {MakeJob("ml"), vertex, own}) {
    ASSERT_TRUE(Create(job));
    ASSERT_TRUE(WaitForEnd(job.job_id(), Job::SUCCEEDED));
  }
  const std::string number = std::to_string(cluster::HashedNumber("p"));
  EXPECT_EQ(told, (std::map<std::string, std::string>{{"ml", ""}, {"vertex", number}, {"own", "mine"}}));
}

}  // namespace
}  // namespace trainyard::control
