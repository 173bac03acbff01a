#include "control/intake/image_choice.h"

#include <google/protobuf/text_format.h>

#include <future>
#include <map>
#include <set>
#include <utility>

#include "base/async/guarded.h"
#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using ml::v1::TrainingInput;

struct Row {
  const char* name;
  const char* input;
  jobs::RoleImages containers;
};
class ContainerImagesTest : public testing::TestWithParam<Row> {};

TEST_P(ContainerImagesTest, AreThoseThatNoRuntimeVersionStandsFor) {
  TrainingInput input;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().input, &input));
  EXPECT_EQ(ContainerImages({{"gcr.io/cloud-ml-public/*", "pytorch"}}, input), GetParam().containers);
}

constexpr auto kMaster = replica::v1::MASTER;
constexpr auto kWorker = replica::v1::WORKER;
constexpr auto kServer = replica::v1::PARAMETER_SERVER;
constexpr auto kEvaluator = replica::v1::EVALUATOR;

INSTANTIATE_TEST_SUITE_P(
    Jobs, ContainerImagesTest,
    testing::Values(Row{"package", "package_uris: 'gs://b/p' python_module: 'm'", {}},
                    Row{"masters_is_everybodys",
                        "master_config { image_uri: 'a' }",
                        {{kMaster, "a"}, {kWorker, "a"}, {kServer, "a"}, {kEvaluator, "a"}}},
                    Row{"each_its_own",
                        "master_config { image_uri: 'a' } worker_config { image_uri: 'b' } evaluator_config "
                        "{ image_uri: 'c' }",
                        {{kMaster, "a"}, {kWorker, "b"}, {kServer, "a"}, {kEvaluator, "c"}}},
                    Row{"only_the_workers",
                        "package_uris: 'gs://b/p' python_module: 'm' worker_config { image_uri: 'b' }",
                        {{kWorker, "b"}}},
                    Row{"package_in_an_image",
                        "package_uris: 'gs://b/p' python_module: 'm' master_config { image_uri: 'a' }",
                        {{kMaster, "a"}, {kWorker, "a"}, {kServer, "a"}, {kEvaluator, "a"}}},
                    Row{"package_in_an_image_of_the_originals",
                        "package_uris: 'gs://b/p' python_module: 'm' "
                        "master_config { image_uri: 'gcr.io/cloud-ml-public/training/pytorch-gpu.1-4' }",
                        {}},
                    Row{"image_of_the_originals_alone",
                        "master_config { image_uri: 'gcr.io/cloud-ml-public/training/x' }",
                        {{kMaster, "gcr.io/cloud-ml-public/training/x"},
                         {kWorker, "gcr.io/cloud-ml-public/training/x"},
                         {kServer, "gcr.io/cloud-ml-public/training/x"},
                         {kEvaluator, "gcr.io/cloud-ml-public/training/x"}}},
                    Row{"a_servers_own_beside_a_runtime",
                        "package_uris: 'gs://b/p' python_module: 'm' master_config { image_uri: "
                        "'gcr.io/cloud-ml-public/x' } "
                        "parameter_server_config { image_uri: 'p' }",
                        {{kServer, "p"}}}),
    [](const auto& row) { return std::string(row.param.name); });

/// A maker with the images that a test defines.
class LookUpTest : public World {
 protected:
  LookUpTest() {
    registries_ = {
        .resolve = [this](const std::string& image, std::chrono::milliseconds timeout,
                          const std::stop_token&) { return Resolve(image, timeout); },
        .find_pulled = [this](const std::string& image) { return FindPulled(image); },
        .registry_of = [](const std::string& image) { return image.substr(0, image.rfind('/') + 1); },
        .at_create = &lookups_,
        .queued = &lookups_};
    JobMaker::Policy policy{.runtime_default = "2.15",
                            .pythons = {{{"3.11", "/usr/bin/python3"}}},
                            .capacity = capacity_,
                            .registries = &registries_,
                            .containers = {.are_here = true}};
    service_.reset();
    maker_ = std::make_unique<JobMaker>(*buckets_, catalogue_, clock_, std::move(policy));
    StartServer();
  }
  ~LookUpTest() override { KillServer(); }  // destroyed before what it uses for look-ups

  Result<v1::JobRecord> Make(const std::string& input) {
    Job job;
    job.set_job_id("j");
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("region: 'us-central1' " + input,
                                                              job.mutable_training_input()));
    return RecordOf(Await(maker_->Make("p", std::move(job))));
  }
  static Job MakeContainerJob(const std::string& image) {
    Job job = MakeJob("j");
    job.mutable_training_input()->clear_package_uris();
    job.mutable_training_input()->clear_python_module();
    job.mutable_training_input()->mutable_master_config()->set_image_uri(image);
    return job;
  }
  void Answer(std::optional<Error> refusal) {
    refusal_.With([&refusal](std::optional<Error>& now) { now = std::move(refusal); });
  }
  std::size_t CountAsked() {
    return asked_.With([](auto& asked) { return asked.size(); });
  }
  /// Advances the time until the job's registry was asked this often.
  [[nodiscard]] bool WaitForLookUps(std::size_t count) {
    return RunUntil([this, count] {
      clock_.Advance(std::chrono::seconds(10));
      return CountAsked() >= count;
    });
  }

  std::optional<image::ResolvedImage> pulled_;  ///< the image that was pulled before, whatever its name
  Guarded<std::vector<std::string>> asked_;
  std::chrono::milliseconds longest_{0};

 private:
  Result<image::ResolvedImage> Resolve(const std::string& image, std::chrono::milliseconds timeout) {
    asked_.With([&image](std::vector<std::string>& asked) { asked.push_back(image); });
    longest_ = std::max(longest_, timeout);
    if (auto refusal = refusal_.With([](auto& now) { return now; })) return std::unexpected(*refusal);
    return image::ResolvedImage{
        .reference = "docker.io/library/" + image + "@sha256:1", .digest = "sha256:1", .size_bytes = 7};
  }
  std::optional<image::ResolvedImage> FindPulled(const std::string&) { return pulled_; }

  Guarded<std::optional<Error>> refusal_;
  boost::asio::thread_pool lookups_{1};
};

const Error kSilent{Code::kUnavailable, "image r:5/a:1: r:5 does not answer: connection refused", ""};

constexpr char kDistributed[] =
    "scale_tier: CUSTOM master_type: 'n1-standard-4' master_config { image_uri: 'a' } worker_count: 2 "
    "worker_type: 'n1-standard-4' parameter_server_count: 1 parameter_server_type: 'n1-standard-4' "
    "parameter_server_config { image_uri: 'b' } ";

TEST_F(LookUpTest, EachImageOnceAndWhatItIsNowIsRecorded) {
  const Result<v1::JobRecord> record = Make(kDistributed);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_THAT(asked_.With([](auto& asked) { return asked; }), ElementsAre("a", "b"));
  EXPECT_LE(longest_, kImageLookUpMax);
  ASSERT_EQ(record->images_size(), 2);
  EXPECT_EQ(record->images(0).image(), "a");
  EXPECT_EQ(record->images(0).reference(), "docker.io/library/a@sha256:1");
  EXPECT_EQ(record->images(0).digest(), "sha256:1");
  EXPECT_EQ(record->images(0).size_bytes(), 7);
  EXPECT_EQ(record->replicas(0).image(), "a");
  EXPECT_EQ(record->replicas(2).image(), "a");
  EXPECT_EQ(record->replicas(3).image(), "b");
  EXPECT_EQ(record->runtime_version(), "") << "nobody needs one";
}

TEST_F(LookUpTest, ChecksAskOnceAndJobsThatAreMadeAskAnew) {
  for (int i = 0; i < 3; ++i) {
    const JobMaker::Checked checked = Await(maker_->Check("p", MakeContainerJob("a"), {}));
    EXPECT_EQ(checked.made.record.images(0).digest(), "sha256:1");
  }
  EXPECT_EQ(CountAsked(), 1U);
  ASSERT_TRUE(RecordOf(Await(maker_->Make("p", MakeContainerJob("a")))));
  EXPECT_EQ(CountAsked(), 2U);
}

TEST_F(LookUpTest, APackageBesideAContainerHasItsRuntime) {
  const Result<v1::JobRecord> record = Make(
      "package_uris: 'gs://packages/trainer.tar.gz' python_module: 'm' scale_tier: CUSTOM "
      "master_type: 'n1-standard-4' worker_count: 1 worker_type: 'n1-standard-4' "
      "worker_config { image_uri: 'w' }");
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->runtime_version(), "2.15");
  EXPECT_EQ(record->replicas(0).image(), "");
  EXPECT_EQ(record->replicas(1).image(), "w");
}

TEST_F(LookUpTest, WhatNobodyRunsIsNotLookedUp) {
  EXPECT_TRUE(
      Make("scale_tier: CUSTOM master_type: 'n1-standard-4' master_config { image_uri: 'a' } "
           "worker_count: 1 worker_type: 'cloud_tpu' worker_config { image_uri: 'tpu' "
           "tpu_tf_version: '2.2' }"));
  EXPECT_TRUE(Make("master_config { image_uri: 'a' } evaluator_config { image_uri: 'nobodys' }"));
  EXPECT_THAT(asked_.With([](auto& asked) { return asked; }), ElementsAre("a", "a"));
}

TEST_F(LookUpTest, ARefusalNamesTheRoleThatBroughtTheImage) {
  struct Case {
    Code found;
    Code told;
  };
  for (const Case& row :
       {Case{Code::kNotFound, Code::kFailedPrecondition},
        Case{Code::kPermissionDenied, Code::kFailedPrecondition},
        Case{Code::kFailedPrecondition, Code::kFailedPrecondition},
        Case{Code::kInvalidArgument, Code::kInvalidArgument}, Case{Code::kInternal, Code::kInternal}}) {
    Answer(Error{row.found, "image a: it is gone. Push it again.", ""});
    EXPECT_EQ(Make(kDistributed).error(),
              (Error{row.told, "The image a cannot be used: it is gone. Push it again.",
                     "master_config.image_uri"}));
  }
  EXPECT_EQ(Make("package_uris: 'gs://packages/trainer.tar.gz' python_module: 'm' scale_tier: CUSTOM "
                 "master_type: 'n1-standard-4' worker_count: 1 worker_type: 'n1-standard-4' "
                 "worker_config { image_uri: 'w' }")
                .error()
                .field,
            "worker_config.image_uri");
}

TEST_F(LookUpTest, TheJobsLogAndItsStatusSayWhatATagIs) {
  ASSERT_TRUE(Create(MakeContainerJob("a:1")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(Lines("j", "service"), testing::Contains("Image a:1 is docker.io/library/a:1@sha256:1."));
  const Result<v1::JobStatus> status = Await(service_->Describe({"p", "j"}));
  ASSERT_TRUE(status);
  ASSERT_EQ(status->images_size(), 1);
  EXPECT_EQ(status->images(0).digest(), "sha256:1");
  EXPECT_EQ(status->replicas(0).image(), "a:1");
  EXPECT_EQ(status->runtime_version(), "");
}

TEST_F(LookUpTest, ARestartRunsTheDigestOfTheFirstAttemptAfterANewServer) {
  std::vector<std::string> digests;
  replicas_->SetScript([&digests](const replica::v1::Manifest& manifest) {
    digests.push_back(manifest.program().container().digest());
    if (manifest.attempt() < 2) return engine::FakeScript{.exit = Exit(3)};
    return engine::FakeScript{.exit = std::nullopt};
  });
  ASSERT_TRUE(Create(MakeContainerJob("a")));
  ASSERT_TRUE(RunUntil([&digests] { return digests.size() == 2; }));
  KillServer();
  Answer(NotFound("the registry has forgotten it"));
  StartServer();
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  EXPECT_THAT(digests, ElementsAre("sha256:1", "sha256:1"));
  EXPECT_EQ(CountAsked(), 1U);
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
}

TEST_F(LookUpTest, WhatNobodyAnswersForWaitsInTheQueueAndRunsWhenSomebodyDoes) {
  for (const Code code : {Code::kUnavailable, Code::kDeadlineExceeded}) {
    Answer(Error{code, kSilent.message, ""});
    const Result<v1::JobRecord> record = Make("master_config { image_uri: 'r:5/a:1' }");
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->images(0).unresolved(), "r:5 does not answer: connection refused");
    EXPECT_EQ(record->images(0).digest(), "");
  }
  const Result<Job> created = Create(MakeContainerJob("r:5/a:1"));
  ASSERT_TRUE(created) << created.error().message;
  ASSERT_TRUE(WaitForLookUps(6)) << "three at creates, three of the waiting job";
  EXPECT_EQ(Get("j").state(), Job::QUEUED);
  const Result<v1::JobStatus> status = Await(service_->Describe({"p", "j"}));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->waiting().reason(),
            "The image r:5/a:1 is not resolved yet: r:5 does not answer: connection refused.");
  EXPECT_TRUE(replicas_->started().empty());
  Answer(std::nullopt);
  ASSERT_TRUE(WaitForLookUps(CountAsked() + 1));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_THAT(EventNames("j"), ElementsAre("Created", "ImagesResolved", "Admitted", "Launched", "Running",
                                           "ReplicaEnded", "Concluded", "Ended"));
  EXPECT_EQ(replicas_->started().front().program().container().digest(), "sha256:1");
  EXPECT_THAT(Lines("j", "service"),
              testing::Contains("Image r:5/a:1 is docker.io/library/r:5/a:1@sha256:1.").Times(1));
}

TEST_F(LookUpTest, AWaitingJobIsTakenOverByTheNextServer) {
  Answer(kSilent);
  ASSERT_TRUE(Create(MakeContainerJob("r:5/a:1")));
  ASSERT_TRUE(WaitForLookUps(3));
  KillServer();
  const std::size_t asked = CountAsked();
  StartServer();
  ASSERT_TRUE(WaitForLookUps(asked + 1));
  Answer(std::nullopt);
  ASSERT_TRUE(WaitForLookUps(CountAsked() + 1));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

TEST_F(LookUpTest, ARegistryThatComesBackWithoutTheImageFailsTheJob) {
  Answer(kSilent);
  ASSERT_TRUE(Create(MakeContainerJob("r:5/a:1")));
  ASSERT_TRUE(WaitForLookUps(2));
  Answer(NotFound("image r:5/a:1: there is no such image or tag in r:5"));
  ASSERT_TRUE(WaitForLookUps(CountAsked() + 1));
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_EQ(Get("j").error_message(),
            "The image r:5/a:1 cannot be used: there is no such image or tag in r:5");
  EXPECT_FALSE(Get("j").has_start_time());
}

TEST_F(LookUpTest, ANewServerWithoutContainersFailsTheJob) {
  Answer(kSilent);
  ASSERT_TRUE(Create(MakeContainerJob("r:5/a:1")));
  ASSERT_TRUE(WaitForLookUps(2));
  KillServer();
  registries_.resolve = nullptr;
  StartServer();
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_EQ(Get("j").error_message(),
            "This server does not run containers any more (trainyard serve --container-engine): the job's "
            "images cannot be looked up.");
}

TEST_F(LookUpTest, AWaitingJobCanBeCancelledAndEndsWithItsLimit) {
  Answer(kSilent);
  ASSERT_TRUE(Create(MakeContainerJob("r:5/a:1")));
  ASSERT_TRUE(WaitForLookUps(2));
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  Job job = MakeContainerJob("r:5/a:1");
  job.set_job_id("limited");
  job.mutable_training_input()->mutable_scheduling()->mutable_max_wait_time()->set_seconds(1800);
  ASSERT_TRUE(Create(job));
  clock_.Advance(std::chrono::seconds(1801));
  ASSERT_TRUE(WaitForEnd("limited", Job::CANCELLED));
  EXPECT_THAT(Get("limited").error_message(), HasSubstr("maximum wait time"));
}

TEST_F(LookUpTest, WhatWasPulledBeforeStandsForARegistryThatDoesNotAnswer) {
  pulled_ = image::ResolvedImage{.reference = "r:5/a@sha256:7", .digest = "sha256:7", .size_bytes = 9};
  Answer(kSilent);
  ASSERT_TRUE(Create(MakeContainerJob("r:5/a:1")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  EXPECT_EQ(replicas_->started().front().program().container().digest(), "sha256:7");
  EXPECT_THAT(Lines("j", "service"),
              testing::Contains("The image r:5/a:1 is the one that was pulled under this name before, "
                                "sha256:7: r:5 does not answer: connection refused."));
}

TEST_F(LookUpTest, ATuningJobSuggestsNothingBeforeItsImageIsKnown) {
  Answer(kSilent);
  Job job = MakeContainerJob("r:5/a:1");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "max_trials: 2 params { parameter_name: 'x' type: INTEGER min_value: 1 max_value: 9 }",
      job.mutable_training_input()->mutable_hyperparameters()));
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForLookUps(3));
  EXPECT_EQ(Record("j").tuning().trials_created(), 0);
  EXPECT_THAT(Await(service_->Describe({"p", "j"}))->waiting().reason(), HasSubstr("r:5/a:1"));
  Answer(std::nullopt);
  ASSERT_TRUE(WaitForLookUps(CountAsked() + 1));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  for (const v1::JobRecord& trial : TrialsOf(Record("j"))) EXPECT_EQ(trial.images(0).digest(), "sha256:1");
}

TEST_F(LookUpTest, CreatorsNeedRightsOfTheirOwnForThisMachinesImagesAndItsCredentials) {
  Answer(std::nullopt);
  registries_.registry_of = [](const std::string& image) { return image.substr(0, image.find('/')); };
  registries_.uses_credentials = [](const std::string& image) { return image.starts_with("private"); };
  std::vector<std::string> asked;
  const auto refuse = [&asked](std::string permission, iam::Resource) -> boost::asio::awaitable<Status> {
    asked.push_back(std::move(permission));
    co_return std::unexpected(PermissionDenied("No."));
  };
  const Creator creator{.principal = "user:ann@example.com", .require = refuse};
  EXPECT_TRUE(Await(maker_->Make("p", MakeContainerJob("public/a:1"), creator)));
  for (const char* image : {"private/a:1", "docker-archive:/tmp/a.tar"}) {
    const auto refused = Await(maker_->Make("p", MakeContainerJob(image), creator));
    ASSERT_FALSE(refused) << image;
    EXPECT_EQ(refused.error().field, "master_config.image_uri");
  }
  EXPECT_EQ(asked,
            (std::vector<std::string>{"trainyard.images.useCredentials", "trainyard.images.useLocal"}));
}

TEST_F(LookUpTest, AServerThatStartsBeforeWhatRunsContainersHoldsTheJob) {
  Answer(kSilent);
  ASSERT_TRUE(Create(MakeContainerJob("r:5/a:1")));
  ASSERT_TRUE(WaitForLookUps(2));
  KillServer();
  bool is_there = false;
  int looks = 0;
  const ImageResolver resolve = std::exchange(registries_.resolve, nullptr);
  registries_.look_for_containers = [&]() -> boost::asio::awaitable<std::string> {
    ++looks;
    if (is_there) registries_.resolve = resolve;
    co_return "No engine answers. Start one.";
  };
  StartServer();
  ASSERT_TRUE(RunUntil([&] {
    clock_.Advance(std::chrono::seconds(10));
    return looks >= 3;
  }));
  EXPECT_EQ(Get("j").state(), Job::QUEUED);
  EXPECT_EQ(Await(service_->Describe({"p", "j"}))->waiting().reason(),
            "The image r:5/a:1 is not resolved yet: nothing runs containers here now. No engine answers. "
            "Start one.");
  Answer(std::nullopt);
  is_there = true;
  ASSERT_TRUE(WaitForLookUps(CountAsked() + 1));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
}

/// The maker of a server that found no container program when it started.
TEST_F(LookUpTest, WhatAnotherJobFoundCountsForTheNextCreate) {
  Answer(std::nullopt);
  const ImageResolver resolve = std::exchange(registries_.resolve, nullptr);
  registries_.look_for_containers = []() -> boost::asio::awaitable<std::string> {
    co_return "None. Start one.";
  };
  JobMaker::Policy policy{.runtime_default = "2.15", .capacity = capacity_, .registries = &registries_};
  JobMaker maker(*buckets_, catalogue_, clock_, std::move(policy));
  const auto refused = Await(maker.Make("p", MakeContainerJob("r:5/a:1")));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(
      refused.error().message.ends_with("A Python package (package_uris and python_module) runs without "
                                        "an image."));
  registries_.resolve = resolve;
  registries_.look_for_containers = nullptr;
  EXPECT_TRUE(Await(maker.Make("p", MakeContainerJob("r:5/a:1"))));
}

/// A maker whose registries answer only when the test allows it.
class SlowRegistryTest : public World {
 protected:
  struct Asked {
    std::multiset<std::string> under_way;
    std::map<std::string, std::chrono::milliseconds> limits;
  };
  SlowRegistryTest() {
    registries_ = {.resolve = [this](const std::string& image, std::chrono::milliseconds limit,
                                     const std::stop_token& stop) { return Resolve(image, limit, stop); },
                   .find_pulled = [](const std::string&) { return std::nullopt; },
                   .registry_of =
                       [](const std::string& image) {
                         const bool is_here = image.starts_with("docker-archive:");
                         return is_here ? "docker-archive:" : image.substr(0, image.find('/'));
                       },
                   .at_create = &lookups_,
                   .queued = &lookups_};
    JobMaker::Policy policy{.runtime_default = "2.15",
                            .capacity = capacity_,
                            .registries = &registries_,
                            .containers = {.are_here = true}};
    service_.reset();
    maker_ = std::make_unique<JobMaker>(*buckets_, catalogue_, clock_, std::move(policy));
    StartServer();
  }
  ~SlowRegistryTest() override { KillServer(); }

  void CreateJob(const std::string& id, const std::string& image) {
    Job job = MakeJob(id);
    ml::v1::TrainingInput& input = *job.mutable_training_input();
    input.clear_package_uris();
    input.clear_python_module();
    input.mutable_master_config()->set_image_uri(image);
    ASSERT_TRUE(Create(job));
  }
  Asked Now() {
    return asked_.With([](Asked& asked) { return asked; });
  }

 private:
  Result<image::ResolvedImage> Resolve(const std::string& image, std::chrono::milliseconds limit,
                                       const std::stop_token& stop) {
    if (limit <= kImageLookUpMax) return std::unexpected(kSilent);  // at a create
    asked_.With([&](Asked& asked) {
      asked.under_way.insert(image);
      asked.limits[image] = limit;
    });
    std::promise<void> ended;
    const std::stop_callback on_stop(stop, [&ended] { ended.set_value(); });
    const bool is_dead = !image.contains("good");
    if (is_dead) ended.get_future().wait();
    asked_.With([&](Asked& asked) { asked.under_way.erase(asked.under_way.find(image)); });
    if (is_dead) return std::unexpected(kSilent);
    return image::ResolvedImage{.reference = image + "@sha256:1", .digest = "sha256:1"};
  }

  Guarded<Asked> asked_;
  boost::asio::thread_pool lookups_{4};
};

constexpr const char* kArchive = "docker-archive:/a.tar";

TEST_F(SlowRegistryTest, ADeadOneHoldsOneThreadAndOnlyItsOwnJobs) {
  for (int i = 0; i < 8; ++i) CreateJob("dead" + std::to_string(i), "dead.example/a");
  for (int i = 0; i < 8; ++i) CreateJob("local" + std::to_string(i), kArchive);
  CreateJob("good", "good.example/a");
  ASSERT_TRUE(WaitForEnd("good", Job::SUCCEEDED));
  ASSERT_TRUE(RunUntil([this] { return Now().under_way.size() == 2; }));
  const Asked now = Now();
  EXPECT_THAT(now.under_way, ElementsAre("dead.example/a", kArchive));
  EXPECT_EQ(now.limits.at(kArchive), kLocalLookUpMax);
  EXPECT_EQ(now.limits.at("dead.example/a"), kQueuedLookUpMax);
  EXPECT_EQ(now.limits.at("good.example/a"), kQueuedLookUpMax);
}

TEST_F(SlowRegistryTest, WhoWaitsForATurnThereCanBeCancelled) {
  CreateJob("first", "dead.example/a");
  CreateJob("second", "dead.example/a");
  ASSERT_TRUE(RunUntil([this] { return Now().under_way.size() == 1; }));
  ASSERT_TRUE(Cancel("second"));
  ASSERT_TRUE(WaitForEnd("second", Job::CANCELLED));
  ASSERT_TRUE(Cancel("first"));
  ASSERT_TRUE(WaitForEnd("first", Job::CANCELLED));
  EXPECT_TRUE(WaitUntilQuiet());
}

class NoContainersTest : public World {};

TEST_F(NoContainersTest, AnImageIsRefusedWithWhatIsMissing) {
  Job job = MakeJob("j");
  job.mutable_training_input()->mutable_worker_config()->set_image_uri("gcr.io/cloud-ml-public/x");
  const Result<Job> refused = Create(job);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(refused.error().field, "worker_config.image_uri");
  EXPECT_THAT(refused.error().message, HasSubstr("does not run containers"));
}

}  // namespace
}  // namespace trainyard::control
