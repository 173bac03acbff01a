#include "control/intake/job_maker.h"

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <map>

#include "control/testing/world.h"
#include "stores/storage/buckets.h"

namespace trainyard::control {
namespace {

class JobMakerTest : public World {
 protected:
  Result<v1::JobRecord> Make(Job job) { return RecordOf(Await(maker_->Make("p", std::move(job)))); }
};

TEST_F(JobMakerTest, PackagesAreWhatTheyAreNow) {
  Result<v1::JobRecord> record = Make(MakeJob("j"));
  ASSERT_TRUE(record) << record.error().message;
  ASSERT_EQ(record->packages_size(), 1);
  EXPECT_EQ(record->packages(0).checksum(),
            *Await(storage::Sha256Of(*buckets_, "packages", "trainer.tar.gz")));
  EXPECT_EQ(record->packages(0).checksum().size(), 64U) << "nothing that two packages can share";
  EXPECT_EQ(record->runtime_version(), "2.15");
}

TEST_F(JobMakerTest, AMissingPackageIsRefusedAndNothingIsMade) {
  Job job = MakeJob("j");
  job.mutable_training_input()->add_package_uris("gs://packages/missing.tar.gz");
  job.mutable_training_input()->set_job_dir("gs://new-bucket/out");
  Result<v1::JobRecord> record = Make(job);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(record.error().field, "package_uris");
  EXPECT_THAT(record.error().message, HasSubstr("gs://packages/missing.tar.gz"));
  EXPECT_EQ(Await(buckets_->GetBucket("new-bucket")).error().code, Code::kNotFound);
}

TEST_F(JobMakerTest, PackagesOfARoleAreLookedUpIfItHasReplicas) {
  Job job = MakeJob("j", 1);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.mutable_worker_config()->add_package_uris("gs://packages/trainer.tar.gz");
  input.mutable_evaluator_config()->add_package_uris("gs://packages/missing.tar.gz");
  const Result<v1::JobRecord> record = Make(job);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->packages_size(), 1);
  ASSERT_EQ(record->role_packages_size(), 1) << "there are no evaluators";
  EXPECT_EQ(record->role_packages(0).type(), replica::v1::WORKER);
  ASSERT_EQ(record->role_packages(0).packages_size(), 1);
  EXPECT_EQ(record->role_packages(0).packages(0).checksum(), record->packages(0).checksum());

  input.mutable_worker_config()->add_package_uris("gs://packages/missing.tar.gz");
  const Result<v1::JobRecord> refused = Make(job);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(refused.error().field, "worker_config.package_uris");
}

TEST_F(JobMakerTest, TheJobDirsBucketIsMadeAndTheJobsLogSaysSo) {
  Job job = MakeJob("j");
  job.mutable_training_input()->set_job_dir("gs://models/out");
  const Result<v1::JobRecord> first = Make(job);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->remarks(),
              ElementsAre("The bucket gs://models of the job's jobDir did not exist and was made."));
  EXPECT_TRUE(Await(buckets_->GetBucket("models")));
  const Result<v1::JobRecord> again = Make(job);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->remarks(), ElementsAre());
  job.mutable_training_input()->set_job_dir("gs://modles/out");
  const Result<v1::JobRecord> mistyped = Make(job);
  ASSERT_TRUE(mistyped);
  EXPECT_THAT(mistyped->remarks(), ElementsAre());
  EXPECT_THAT(mistyped->warnings(),
              ElementsAre("The bucket gs://modles of the job's jobDir did not exist and was "
                          "made; did you mean gs://models?"));
}

TEST_F(JobMakerTest, ABucketThatOnlyAnUploadMadeIsNamedOnceWithTheOneThatWasMeant) {
  storage::v1::Bucket meant;
  meant.set_name("my-models");
  ASSERT_TRUE(Await(buckets_->InsertBucket(meant)));
  ASSERT_TRUE(Await(buckets_->EnsureBucket("my-modles")));  // what an upload does
  ASSERT_TRUE(Await(buckets_->EnsureBucket("another")));
  Job job = MakeJob("j");
  job.mutable_training_input()->set_job_dir("gs://my-modles/out");
  job.mutable_training_input()->add_args("--data=gs://another/x");
  const std::string warning =
      "The bucket gs://my-modles of the job's jobDir did not exist until a file was uploaded to it; did you "
      "mean gs://my-models? If the name is right, ignore this: it is said once.";
  EXPECT_THAT(Make(job)->warnings(), ElementsAre(warning));
  EXPECT_THAT(Make(job)->warnings(), ElementsAre(warning)) << "none of these was stored";
  ASSERT_TRUE(Await(service_->Create("p", job)));
  EXPECT_THAT(Make(job)->warnings(), ElementsAre());

  job.mutable_training_input()->set_job_dir("gs://my-model/out");
  EXPECT_THAT(Make(job)->warnings(),
              ElementsAre("The bucket gs://my-model of the job's jobDir did not exist and was made; did you "
                          "mean gs://my-models?"));
}

TEST_F(JobMakerTest, AnotherBucketOfAnUploadIsNoSuggestion) {
  ASSERT_TRUE(Await(buckets_->EnsureBucket("my-models")));
  ASSERT_TRUE(Await(buckets_->EnsureBucket("my-modles")));
  Job job = MakeJob("j");
  job.mutable_training_input()->set_job_dir("gs://my-modles/out");
  EXPECT_THAT(Make(job)->warnings(), ElementsAre());
}

/// Software that is installed while the server runs.
class LaterTest : public World {
 protected:
  /// A maker on a machine without the Python for 2.11, until `installed_` is set; counts how often it looks.
  Result<v1::JobRecord> Make(const std::string& version) {
    Job job = MakeJob("j");
    job.mutable_training_input()->set_runtime_version(version);
    return RecordOf(Await(maker_.Make("p", std::move(job))));
  }
  environment::AvailablePythons Look() {
    ++looks_;
    environment::AvailablePythons there = kPlain;
    if (installed_) there.pythons.push_back({"3.7", "/opt/python3.7"});
    return there;
  }

  const environment::AvailablePythons kPlain{{{"3.11", "/usr/bin/python3"}}};
  boost::asio::thread_pool pool_{1};
  std::atomic<bool> installed_ = false;
  std::atomic<int> looks_ = 0;
  environment::Catalogue catalogue_ = *environment::Catalogue::Load("/nonexistent");
  JobMaker maker_{*buckets_,
                  catalogue_,
                  clock_,
                  {.runtime_default = "2.15",
                   .pythons = kPlain,
                   .look_at_pythons = [this] { return Look(); },
                   .capacity = {},
                   .devices = {placement::ParseDeclaredDevices("nvidia-h200=2").value(), {}},
                   .lookups = &pool_}};
};

TEST_F(LaterTest, APythonIsNoticedByTheNextJobThatNeedsIt) {
  EXPECT_EQ(Make("2.15")->runtime_version(), "2.15");
  EXPECT_EQ(looks_, 0) << "what is there is not looked for";
  EXPECT_EQ(Make("2.11")->runtime_version(), "2.15");
  EXPECT_EQ(looks_, 1);
  installed_ = true;
  const auto record = Make("2.11");
  EXPECT_EQ(record->runtime_version(), "2.11");
  EXPECT_EQ(record->notes_size(), 0);
  EXPECT_EQ(looks_, 2);
  EXPECT_EQ(Make("2.4")->runtime_version(), "2.4");
  EXPECT_EQ(looks_, 2);
}

TEST_F(LaterTest, WhatRunsContainersIsLookedForByJobsWithImages) {
  int looks = 0;
  bool installed = false;
  ImageRegistries registries;
  registries.look_for_containers = [&]() -> boost::asio::awaitable<std::string> {
    ++looks;
    if (!installed) co_return "Install crun.";
    registries.resolve = [](const std::string& image, std::chrono::milliseconds,
                            const std::stop_token&) -> Result<image::ResolvedImage> {
      return image::ResolvedImage{.reference = image + "@sha256:1", .digest = "sha256:1"};
    };
    co_return "";
  };
  registries.at_create = &pool_;
  JobMaker maker(*buckets_, catalogue_, clock_,
                 {.runtime_default = "2.15",
                  .pythons = kPlain,
                  .capacity = {},
                  .registries = &registries,
                  .containers = {.lacking = "Install crun."},
                  .lookups = &pool_});
  Job job;
  job.set_job_id("j");
  job.mutable_training_input()->set_region("us-central1");
  job.mutable_training_input()->mutable_master_config()->set_image_uri("example.com/a:1");
  ASSERT_TRUE(Await(maker.Make("p", MakeJob("plain"))));
  EXPECT_EQ(looks, 0);
  const auto refused = Await(maker.Make("p", job));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Install crun."));
  installed = true;
  const auto made = Await(maker.Make("p", job));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(looks, 2);
  ASSERT_TRUE(Await(maker.Make("p", job)));
  EXPECT_EQ(looks, 2) << "found once";
}

TEST_F(LaterTest, AVersionWithoutCudaSaysSo) {
  Job job = MakeJob("j");
  job.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::BASIC_GPU);
  installed_ = true;
  const std::map<std::string, std::vector<std::string>> expected{
      {"2.1",
       {"runtime version 2.1 has no CUDA libraries that can be installed: TensorFlow will use the CPU of "
        "replicas with "
        "GPUs"}},
      {"2.15", {}}};
  for (const auto& [version, notes] : expected) {
    job.mutable_training_input()->set_runtime_version(version);
    const auto record = RecordOf(Await(maker_.Make("p", job)));
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(std::vector<std::string>(record->notes().begin(), record->notes().end()), notes);
  }
}

class StrictTest : public World {
 protected:
  StrictTest()
      : World(
            {.mode = placement::Capacity::Mode::kStrict, .cpus = 8, .memory_bytes = std::int64_t{64} << 30}) {
  }
};

TEST_F(StrictTest, WhatTheMachineLacksIsNamed) {
  using ml::v1::AcceleratorConfig;
  struct Row {
    const char* devices;
    const char* map;
    ml::v1::TrainingInput::ScaleTier tier;
    int t4;
    const char* refused;  ///< "field: message"; empty: it is accepted
  };
  const Row rows[] = {
      {"none", "", ml::v1::TrainingInput::BASIC_GPU, 0,
       "scale_tier: This server has no GPUs: the job asks for 1 NVIDIA_TESLA_K80 in a machine of type "
       "standard_gpu."},
      {"none", "nvidia-tesla-k80=none", ml::v1::TrainingInput::BASIC_GPU, 0, ""},
      {"none", "", ml::v1::TrainingInput::STANDARD_1, 0,
       "scale_tier: The job can never run on this machine: it asks for 52 vCPUs and 81 GiB in all, the "
       "machine "
       "has 8 CPUs and 64 GiB."},
      {"none", "nvidia-tesla-k80=none", ml::v1::TrainingInput::CUSTOM, 2,
       "master_config.accelerator_config: The job can never run on this machine. The job asks for 2 "
       "NVIDIA_TESLA_T4; this machine has no accelerators."},
      {"nvidia-h200=1", "", ml::v1::TrainingInput::CUSTOM, 2,
       "master_config.accelerator_config: The job can never run on this machine. The job asks for 2 "
       "NVIDIA_TESLA_T4; this machine has 1 GPU (nvidia-h200)."},
      {"nvidia-h200=2", "", ml::v1::TrainingInput::CUSTOM, 2, ""},
      {"nvidia-h200=2", "nvidia-tesla-k80=nvidia-tesla-t4", ml::v1::TrainingInput::BASIC_GPU, 0,
       "scale_tier: The job can never run on this machine. The job asks for 1 NVIDIA_TESLA_K80; this machine "
       "has 2 "
       "GPUs (nvidia-h200), of which 0 count as nvidia-tesla-k80."},
      {"nvidia-h200=2", "tpu-v3=none", ml::v1::TrainingInput::BASIC_TPU, 0,
       "scale_tier: The job can never run on this machine. The job asks for 8 TPU_V2; this machine has 2 "
       "GPUs "
       "(nvidia-h200), of which 0 count as tpu-v2."}};
  for (const Row& row : rows) {
    JobMaker maker(*buckets_, catalogue_, clock_,
                   {.runtime_default = "2.15",
                    .pythons = {{{"3.11", "/usr/bin/python3"}}},
                    .capacity = capacity_,
                    .devices = {placement::ParseDeclaredDevices(row.devices).value(),
                                placement::AcceleratorMap::Parse(row.map).value()}});
    Job job = MakeJob("j");
    ml::v1::TrainingInput& input = *job.mutable_training_input();
    input.set_scale_tier(row.tier);
    if (row.t4 > 0) {
      input.set_master_type("n1-standard-4");
      AcceleratorConfig& config = *input.mutable_master_config()->mutable_accelerator_config();
      config.set_type(AcceleratorConfig::NVIDIA_TESLA_T4);
      config.set_count(row.t4);
    }
    const Result<JobMaker::NewJob> made = Await(maker.Make("p", job));
    EXPECT_EQ(made ? "" : made.error().field + ": " + made.error().message, row.refused) << row.devices;
    if (!made) EXPECT_EQ(made.error().code, Code::kFailedPrecondition);
  }
}

TEST_F(StrictTest, WhatGoesElsewhereIsNotMeasuredByThisMachine) {
  JobMaker maker(*buckets_, catalogue_, clock_,
                 {.runtime_default = "2.15",
                  .pythons = {{{"3.11", "/usr/bin/python3"}}},
                  .capacity = capacity_,
                  .devices = {{}, placement::AcceleratorMap::Parse("nvidia-tesla-k80=none").value()},
                  .engine_of = [](const placement::Gang& gang) {
                    return gang.region == "us-central1" ? placement::kSlurmEngine : placement::kLocalEngine;
                  }});
  Job job = MakeJob("j");
  job.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::BASIC_GPU);
  const Result<JobMaker::NewJob> there = Await(maker.Make("p", job));
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(there->engine, placement::kSlurmEngine);
  EXPECT_EQ(there->demand, (placement::QuotaDemand{{"gpus", 1}, {"nvidia-tesla-k80", 1}}))
      << "the table of this machine waives nothing there";
  job.mutable_training_input()->set_region("europe-west1");
  const Result<JobMaker::NewJob> here = Await(maker.Make("p", job));
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_EQ(here->demand, placement::QuotaDemand());
  job.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::STANDARD_1);
  EXPECT_FALSE(Await(maker.Make("p", job)));
  job.mutable_training_input()->set_region("us-central1");
  EXPECT_TRUE(Await(maker.Make("p", job)));
}

TEST_F(StrictTest, WhatCanNeverFitIsRefusedAndTheRestQueues) {
  replicas_->SetScript([](const replica::v1::Manifest&) { return engine::FakeScript{.exit = std::nullopt}; });
  Result<Job> refused = Create(MakeJob("big", 2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  ASSERT_TRUE(Create(MakeJob("a", 1)));
  ASSERT_TRUE(WaitForState("a", Job::RUNNING));
  ASSERT_TRUE(Create(MakeJob("b", 1)));
  ASSERT_TRUE(RunUntil([this] { return Get("b").job_position() == 1; }));
  EXPECT_EQ(Get("b").state(), Job::QUEUED);
  ASSERT_TRUE(Cancel("b"));
  ASSERT_TRUE(RunUntil([this] { return Record("b").job().state() == Job::CANCELLED; }));
  EXPECT_FALSE(Record("b").job().has_start_time());
  EXPECT_EQ(Lines("b", "service").back(), "Job cancelled.");
  ASSERT_TRUE(Create(MakeJob("c", 1)));
  ASSERT_TRUE(Cancel("a"));
  ASSERT_TRUE(WaitForState("c", Job::RUNNING));
}

}  // namespace
}  // namespace trainyard::control
