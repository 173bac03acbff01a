#include "rules/vertex/custom_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/validation/validate.h"
#include "rules/vertex/testing/parse.h"

namespace trainyard::vertex::custom_job_test {
namespace {

using ml::v1::TrainingInput;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ParseCustomJob;

constexpr std::int64_t kNumber = 7110512376444053982;
constexpr const char* kRegion = "us-central1";

// Requests of gcloud 528 and of the SDK 2.7.0, as recorded.
constexpr const char* kGcloudContainer = R"({"displayName": "c1", "jobSpec": {"enableWebAccess": true,
  "network": "projects/12345/global/networks/default", "serviceAccount": "me@p.iam.gserviceaccount.com",
  "workerPoolSpecs": [
    {"containerSpec": {"args": ["--epochs=3", "x"], "command": ["python", "a.py"], "imageUri": "gcr.io/p/img"},
     "machineSpec": {"acceleratorCount": 1, "acceleratorType": "NVIDIA_TESLA_T4", "machineType": "n1-standard-4"},
     "replicaCount": "1"},
    {"containerSpec": {"args": ["--epochs=3", "x"], "command": ["python", "a.py"], "imageUri": "gcr.io/p/img"},
     "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "2"}]}, "labels": {"a": "b"}})";
constexpr const char* kGcloudMixed = R"({"displayName": "c3", "jobSpec": {
  "baseOutputDirectory": {"outputUriPrefix": "gs://my-bucket/out"}, "enableWebAccess": true, "reservedIpRanges": ["a"],
  "scheduling": {"disableRetries": true, "maxWaitDuration": "600s", "restartJobOnWorkerRestart": true, "strategy": "SPOT",
    "timeout": "3600s"}, "serviceAccount": "me@p.iam.gserviceaccount.com", "workerPoolSpecs": [
    {"diskSpec": {"bootDiskSizeGb": 100, "bootDiskType": "pd-ssd"}, "machineSpec": {"acceleratorCount": 1,
      "acceleratorType": "NVIDIA_TESLA_T4", "machineType": "n1-standard-4"}, "pythonPackageSpec": {
      "args": ["--epochs=3", "--lr", "0.1"], "env": [{"name": "A", "value": "b"}],
      "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-gpu.2-8:latest",
      "packageUris": ["gs://my-bucket/trainer-0.1.tar.gz"], "pythonModule": "trainer.task"}, "replicaCount": "1"},
    {"containerSpec": {"args": ["x"], "command": ["python", "a.py"], "imageUri": "gcr.io/p/img"},
     "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "2"}]}})";
constexpr const char* kGcloudPackage = R"({"displayName": "c2", "jobSpec": {"workerPoolSpecs": [
  {"machineSpec": {"machineType": "n1-standard-4"}, "pythonPackageSpec": {
    "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest",
    "packageUris": ["gs://my-bucket/trainer-0.1.tar.gz"], "pythonModule": "trainer.task"}, "replicaCount": "1"}]}})";
constexpr const char* kSdk = R"({"displayName": "cj-run", "jobSpec": {"workerPoolSpecs": [
  {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1",
   "containerSpec": {"imageUri": "gcr.io/p/img", "command": ["python", "a.py"], "args": ["--x=1"]}}],
  "baseOutputDirectory": {"outputUriPrefix": "gs://my-bucket/aiplatform-custom-job-2026-11-28-06:26:48.135"}}})";

Translated Translate(std::string_view json) {
  const auto translated = JobOf(ParseCustomJob(json), kRegion, kNumber);
  EXPECT_TRUE(translated.has_value()) << translated.error().message;
  return translated.value_or(Translated{});
}

class Recorded : public ::testing::TestWithParam<const char*> {};

TEST_P(Recorded, BecomesAValidJob) {
  jobs::ValidationContext context;
  context.containers = true;
  context.gpus = true;
  std::string found;
  for (const Error& error : jobs::FindViolations(Translate(GetParam()).job, context))
    found += error.field + ": " + error.message + "\n";
  EXPECT_EQ(found, "");
}

INSTANTIATE_TEST_SUITE_P(Requests, Recorded,
                         ::testing::Values(kGcloudContainer, kGcloudMixed, kGcloudPackage, kSdk));

TEST(JobOf, TakesTheJobsOwnFields) {
  const Translated translated = Translate(kGcloudContainer);
  const ml::v1::Job& job = translated.job;
  EXPECT_EQ(job.job_id(), "vertex_7110512376444053982");
  EXPECT_EQ(job.display_name(), "c1");
  EXPECT_EQ(job.labels().at("a"), "b");
  const TrainingInput& input = job.training_input();
  EXPECT_EQ(input.region(), kRegion);
  EXPECT_EQ(input.program_variables(), TrainingInput::VERTEX_AI);
  EXPECT_TRUE(input.use_chief_in_tf_config());
  EXPECT_TRUE(input.enable_web_access());
  EXPECT_EQ(input.service_account(), "me@p.iam.gserviceaccount.com");
  EXPECT_EQ(input.worker_count(), 2);
  EXPECT_EQ(input.scheduling().max_running_time().seconds(), 604'800);
  EXPECT_FALSE(input.scheduling().has_max_wait_time());
  EXPECT_EQ(input.job_dir(), "");
  EXPECT_FALSE(input.job_dir_as_variable());
  EXPECT_THAT(translated.remarks, ElementsAre("job_spec.network has no effect on this server."));
}

TEST(JobOf, MixesAPackageAndContainers) {
  const Translated translated = Translate(kGcloudMixed);
  const TrainingInput& input = translated.job.training_input();
  EXPECT_EQ(input.runtime_version(), "2.8");
  EXPECT_EQ(input.output_uri_prefix(), "gs://my-bucket/out");
  EXPECT_EQ(input.job_dir(), "gs://my-bucket/out");
  EXPECT_TRUE(input.job_dir_as_variable());
  EXPECT_EQ(input.scheduling().max_running_time().seconds(), 3600);
  EXPECT_EQ(input.scheduling().max_wait_time().seconds(), 1800);
  EXPECT_THAT(input.args(), IsEmpty());
  EXPECT_THAT(input.master_config().args(), ElementsAre("--epochs=3", "--lr", "0.1"));
  EXPECT_EQ(input.master_config().env_size(), 1);
  EXPECT_EQ(input.worker_config().image_uri(), "gcr.io/p/img");
  EXPECT_THAT(input.worker_config().container_args(), ElementsAre("x"));
  for (const char* text : {"max_wait_duration", "restart_job_on_worker_restart", "disable_retries", "SPOT",
                           "reserved_ip_ranges"})
    EXPECT_THAT(translated.remarks, Contains(HasSubstr(text)));
}

TEST(JobOf, WaitsForEverIfAsked) {
  aip::CustomJob asked = ParseCustomJob(kSdk);
  asked.mutable_job_spec()->mutable_scheduling()->mutable_max_wait_duration()->set_seconds(0);
  const auto forever = JobOf(asked, kRegion, kNumber);
  EXPECT_FALSE(forever.value().job.training_input().scheduling().has_max_wait_time());
  asked.mutable_job_spec()->mutable_scheduling()->mutable_max_wait_duration()->set_seconds(7200);
  const auto bounded = JobOf(asked, kRegion, kNumber);
  EXPECT_EQ(bounded.value().job.training_input().scheduling().max_wait_time().seconds(), 7200);
  EXPECT_THAT(bounded->remarks, IsEmpty());
}

struct Row {
  const char* name;
  void (*spoil)(aip::CustomJob& asked);
  const char* field;
  const char* text;
};

class BadJob : public ::testing::TestWithParam<Row> {};

TEST_P(BadJob, IsRefused) {
  aip::CustomJob asked = ParseCustomJob(kSdk);
  GetParam().spoil(asked);
  const auto translated = JobOf(asked, kRegion, kNumber);
  ASSERT_FALSE(translated.has_value());
  ASSERT_EQ(translated.error().violations.size(), 1U) << translated.error().message;
  EXPECT_EQ(translated.error().violations[0].field, GetParam().field);
  EXPECT_THAT(translated.error().message,
              HasSubstr(std::string("List of found errors:\t1.Field: ") + GetParam().field + "; Message: "));
  EXPECT_THAT(translated.error().message, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadJob,
    ::testing::Values(
        Row{"no_name", [](aip::CustomJob& asked) { asked.clear_display_name(); }, "display_name", "required"},
        Row{"long_name", [](aip::CustomJob& asked) { asked.set_display_name(std::string(129, 'x')); },
            "display_name", "at most 128"},
        Row{"label", [](aip::CustomJob& asked) { (*asked.mutable_labels())["Upper"] = "x"; }, "labels",
            "'Upper'"},
        Row{"tensorboard", [](aip::CustomJob& asked) { asked.mutable_job_spec()->set_tensorboard("t"); },
            "job_spec.tensorboard", "Leave out"},
        Row{"persistent",
            [](aip::CustomJob& asked) { asked.mutable_job_spec()->set_persistent_resource_id("r"); },
            "job_spec.persistent_resource_id", "Leave out"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JobOf, RefusesNegativeDurations) {
  aip::CustomJob asked = ParseCustomJob(kGcloudPackage);
  aip::Scheduling& scheduling = *asked.mutable_job_spec()->mutable_scheduling();
  scheduling.mutable_timeout()->set_seconds(-1);
  scheduling.mutable_max_wait_duration()->set_nanos(-1);
  const Result<Translated> translated = JobOf(asked, kRegion, kNumber);
  ASSERT_FALSE(translated);
  EXPECT_THAT(translated.error().message, HasSubstr("Field: job_spec.scheduling.timeout"));
  EXPECT_THAT(translated.error().message, HasSubstr("Field: job_spec.scheduling.max_wait_duration"));
}

TEST(JobOf, CountsCharactersOfNames) {
  aip::CustomJob asked = ParseCustomJob(kSdk);
  std::string name;
  for (int i = 0; i < 128; ++i) name += "ä";
  asked.set_display_name(name);
  EXPECT_TRUE(JobOf(asked, kRegion, kNumber).has_value());
}

TEST(NumberOf, ReadsTheJobIdsOfCustomJobs) {
  EXPECT_EQ(NumberOf(JobIdOf(kNumber)), kNumber);
  for (const char* other : {"", "vertex_", "vertex_x", "vertex_01", "vertex_1x",
                            "vertex_99999999999999999999", "Vertex_1", "my_job"})
    EXPECT_EQ(NumberOf(other), std::nullopt) << other;
}

}  // namespace
}  // namespace trainyard::vertex::custom_job_test
