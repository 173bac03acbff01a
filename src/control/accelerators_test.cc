#include "control/run/manifest.h"
#include "control/testing/world.h"

/// Accelerators, from the queue until they are proved to be free, with simulated replicas.
namespace trainyard::control {
namespace {

using ml::v1::AcceleratorConfig;

class AcceleratorsTest : public World {
 protected:
  AcceleratorsTest() { Declare("nvidia-tesla-t4=4"); }

  void Declare(std::string_view devices, std::string_view map = "") {
    KillServer();
    devices_ = {placement::ParseDeclaredDevices(devices).value(),
                placement::AcceleratorMap::Parse(map).value()};
    StartServer();
    replicas_->SetScript([](const Manifest&) { return FakeScript{.exit = std::nullopt}; });
  }
  static Job Asking(const std::string& job_id, std::int64_t gpus) {
    Job job = MakeJob(job_id);
    job.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::CUSTOM);
    job.mutable_training_input()->set_master_type("n1-standard-16");
    AcceleratorConfig& config =
        *job.mutable_training_input()->mutable_master_config()->mutable_accelerator_config();
    config.set_type(AcceleratorConfig::NVIDIA_TESLA_T4);
    config.set_count(gpus);
    return job;
  }
  v1::JobStatus Status(const std::string& job_id) { return Await(service_->Describe({"p", job_id})).value(); }
  std::vector<std::string> Gpus(const std::string& job_id) {
    const auto gpus = Record(job_id).replicas(0).slot().devices().gpus();
    return {gpus.begin(), gpus.end()};
  }
  [[nodiscard]] bool WaitForReason(const std::string& job_id, const std::string& reason) {
    return RunUntil([&] { return Status(job_id).waiting().reason().find(reason) != std::string::npos; });
  }
};

TEST_F(AcceleratorsTest, AReplicaKeepsItsGpusOverRestartsAndIsToldOfThem) {
  ASSERT_TRUE(Create(Asking("j", 2)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  EXPECT_THAT(Gpus("j"), ElementsAre("0", "1"));
  EXPECT_THAT(replicas_->started().back().devices().gpus(), ElementsAre("0", "1"));
  replicas_->Lose(replicas_->Alive().front());
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 2; }));
  EXPECT_THAT(replicas_->started().back().devices().gpus(), ElementsAre("0", "1"));
}

TEST_F(AcceleratorsTest, TheGpuVariantIsChosenWithTheRoom) {
  ASSERT_TRUE(Create(Asking("first", 4)));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING));
  ASSERT_TRUE(Create(Asking("second", 4)));
  ASSERT_TRUE(WaitForReason("second", "4 of 4 are in use by first."));
  EXPECT_EQ(Status("second").runtime_version(), "2.15") << "nobody knows yet where it will run";
  EXPECT_EQ(Status("first").runtime_version(), "2.15-gpu");
  EXPECT_EQ(replicas_->started().back().program().runtime_version(), "2.15-gpu");
  ASSERT_TRUE(Create(MakeJob("without")));
  ASSERT_TRUE(WaitForState("without", Job::RUNNING));
  EXPECT_EQ(replicas_->started().back().program().runtime_version(), "2.15");
  KillServer();
  StartServer();
  EXPECT_EQ(Status("first").runtime_version(), "2.15-gpu") << "for all of its attempts";
}

TEST_F(AcceleratorsTest, GpusAreFreeWhenNothingOfTheJobIsLeft) {
  ASSERT_TRUE(Create(Asking("first", 4)));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING));
  ASSERT_TRUE(Create(Asking("second", 4)));
  ASSERT_TRUE(WaitForReason("second", "Waiting for 4 NVIDIA_TESLA_T4: 4 of 4 are in use by first."));
  EXPECT_EQ(Status("second").waiting().job_position(), 1);
  EXPECT_EQ(Get("second").job_position(), 1);
  host_->forget_error = FailedPrecondition("it is alive");
  ASSERT_TRUE(Cancel("first"));
  ASSERT_TRUE(RunUntil([this] { return Record("first").job().has_end_time(); }));
  ASSERT_TRUE(RunUntil([this] { return host_->forgets_refused > 2; }));
  EXPECT_EQ(Get("second").state(), Job::QUEUED) << "first has ended, and something of it still lives";
  host_->forget_error.reset();
  ASSERT_TRUE(WaitForState("second", Job::RUNNING));
  EXPECT_THAT(Gpus("second"), ElementsAre("0", "1", "2", "3"));
}

TEST_F(AcceleratorsTest, ANewServerKnowsWhoHasWhat) {
  ASSERT_TRUE(Create(Asking("first", 2)));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING));
  KillServer();
  StartServer();
  ASSERT_TRUE(Create(Asking("second", 2)));
  ASSERT_TRUE(WaitForState("second", Job::RUNNING));
  EXPECT_THAT(Gpus("second"), ElementsAre("2", "3"));
  ASSERT_TRUE(Create(Asking("third", 1)));
  EXPECT_TRUE(WaitForReason("third", "in use by first, second"));
}

TEST_F(AcceleratorsTest, AnOrphanOfAPreviousServerKeepsItsGpusUntilItIsGone) {
  KillServer();
  const engine::AttemptRef ghost{.id = "77-master-replica-0-1"};
  engine::AttemptHost::Holding holding{.job_id = "ghost", .devices = {}};
  holding.devices.add_gpus("0");
  replicas_->Leave(ghost, engine::AttemptState::kAlive, holding);
  StartServer();
  ASSERT_TRUE(Create(Asking("j", 4)));
  ASSERT_TRUE(WaitForReason("j", "1 of 4 are in use by ghost."));
  replicas_->Leave(ghost, engine::AttemptState::kEnded, holding);
  host_->SayGone(ghost.id);
  EXPECT_TRUE(WaitForState("j", Job::RUNNING));
}

TEST_F(AcceleratorsTest, AJobThatTheMachineCannotServeWaitsAndHoldsBackNobody) {
  Declare("none");
  ASSERT_TRUE(Create(Asking("gpu", 4)));
  ASSERT_TRUE(Create(MakeJob("cpu")));
  ASSERT_TRUE(WaitForState("cpu", Job::RUNNING));
  const v1::JobStatus::Waiting waiting = Status("gpu").waiting();
  EXPECT_EQ(waiting.reason(), "The job asks for 4 NVIDIA_TESLA_T4; this machine has no accelerators.");
  EXPECT_THAT(waiting.unblock(), HasSubstr("--accelerator-map nvidia-tesla-t4=none"));
}

TEST_F(AcceleratorsTest, AReasonIsSaidOnceAndOnlyIfItLasts) {
  ASSERT_TRUE(Create(Asking("first", 4)));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING));
  ASSERT_TRUE(Create(Asking("second", 4)));
  ASSERT_TRUE(WaitForReason("second", "in use by first"));
  const std::string line =
      "Waiting for 4 NVIDIA_TESLA_T4: 4 of 4 are in use by first. It starts when first has ended.";
  EXPECT_THAT(Lines("second", "service"), testing::Not(Contains(line)));
  clock_.Advance(WaitLog::kSaidAfter);
  ASSERT_TRUE(RunUntil([&] { return std::ranges::count(Lines("second", "service"), line) == 1; }));
  ASSERT_TRUE(Cancel("first"));
  ASSERT_TRUE(WaitForState("second", Job::RUNNING));
  ASSERT_TRUE(Cancel("second"));
  ASSERT_TRUE(WaitForEnd("second", Job::CANCELLED));
  EXPECT_EQ(std::ranges::count(Lines("second", "service"), line), 1);
  EXPECT_EQ(Lines("second", "service").back(), "Job cancelled.");
}

TEST_F(AcceleratorsTest, TheStatusOfAnEndedJobAndOfNone) {
  replicas_->SetScript([](const Manifest&) { return FakeScript{}; });
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  const v1::JobStatus status = Status("j");
  EXPECT_EQ(status.name(), "projects/p/jobs/j");
  EXPECT_FALSE(status.has_waiting());
  EXPECT_EQ(status.runtime_version(), "2.15");
  ASSERT_EQ(status.replicas_size(), 1);
  EXPECT_EQ(status.replicas(0).task_name(), "master-replica-0");
  EXPECT_EQ(status.replicas(0).phase(), replica::v1::ENDED);
  EXPECT_EQ(status.replicas(0).attempt(), 1);
  EXPECT_THAT(status.replicas(0).gpus(), IsEmpty());
  EXPECT_EQ(Await(service_->Describe({"p", "nobody"})).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace trainyard::control
