#include "control/image_choice.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "async/guarded.h"
#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using ml::v1::Job;
using ml::v1::TrainingInput;
using testing::ElementsAre;
using testing::HasSubstr;

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

/// A maker whose images are what a test says that they are.
class LookUpTest : public World {
 protected:
  LookUpTest() {
    JobMaker::Policy policy{
        .runtime_default = "2.15",
        .pythons = {{{"3.11", "/usr/bin/python3"}}},
        .capacity = capacity_,
        .resolve_image = [this](const std::string& image,
                                std::chrono::milliseconds timeout) { return Resolve(image, timeout); },
        .image_lookups = &lookups_};
    service_.reset();
    maker_ = std::make_unique<JobMaker>(*buckets_, catalogue_, clock_, std::move(policy));
    StartServer();
  }

  Result<v1::JobRecord> Make(const std::string& input) {
    Job job;
    job.set_job_id("j");
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("region: 'us-central1' " + input,
                                                              job.mutable_training_input()));
    return Await(maker_->Make("p", std::move(job)));
  }

  std::optional<Error> refusal_;
  Guarded<std::vector<std::string>> asked_;
  std::chrono::milliseconds longest_{0};

 private:
  Result<image::ResolvedImage> Resolve(const std::string& image, std::chrono::milliseconds timeout) {
    asked_.With([&image](std::vector<std::string>& asked) { asked.push_back(image); });
    longest_ = std::max(longest_, timeout);
    if (refusal_) return std::unexpected(*refusal_);
    return image::ResolvedImage{
        .reference = "docker.io/library/" + image + "@sha256:1", .digest = "sha256:1", .size_bytes = 7};
  }
  boost::asio::thread_pool lookups_{1};
};

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
        Case{Code::kInvalidArgument, Code::kInvalidArgument},
        Case{Code::kDeadlineExceeded, Code::kUnavailable}, Case{Code::kUnavailable, Code::kUnavailable}}) {
    refusal_ = Error{row.found, "image a: it is gone. Push it again.", ""};
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
  Job job = MakeJob("j");
  job.mutable_training_input()->clear_package_uris();
  job.mutable_training_input()->clear_python_module();
  job.mutable_training_input()->mutable_master_config()->set_image_uri("a:1");
  ASSERT_TRUE(Create(job));
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
  Job job = MakeJob("j");
  job.mutable_training_input()->clear_package_uris();
  job.mutable_training_input()->clear_python_module();
  job.mutable_training_input()->mutable_master_config()->set_image_uri("a");
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(RunUntil([&digests] { return digests.size() == 2; }));
  KillServer();
  refusal_ = NotFound("the registry has forgotten it");
  StartServer();
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  EXPECT_THAT(digests, ElementsAre("sha256:1", "sha256:1"));
  EXPECT_EQ(asked_.With([](auto& asked) { return asked.size(); }), 1U);
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
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
