#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/vertex/custom_job.h"
#include "rules/vertex/testing/parse.h"

namespace trainyard::vertex::custom_job_answer_test {
namespace {

using ml::v1::Job;
using ::testing::ElementsAre;
using testing::ParseCustomJob;

constexpr const char* kName = "projects/p/locations/us-central1/customJobs/7";

aip::CustomJob Asked() {
  return ParseCustomJob(
      R"({"displayName": "c", "name": "ignored", "state": "JOB_STATE_PAUSED", "labels": {"a": "b"},
    "jobSpec": {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1,
      "containerSpec": {"imageUri": "gcr.io/p/img", "args": ["--x"]}}]}})");
}

/// The job of that request, which was created at 100 s.
Job Now(Job::State state) {
  Job now = JobOf(Asked(), "us-central1", 7).value().job;
  now.set_state(state);
  now.mutable_create_time()->set_seconds(100);
  return now;
}

struct Row {
  Job::State ml;
  aip::JobState vertex;
};

class States : public ::testing::TestWithParam<Row> {};

TEST_P(States, HaveCounterparts) {
  EXPECT_EQ(StateOf(GetParam().ml), GetParam().vertex);
  EXPECT_EQ(CustomJobOf(Asked(), Now(GetParam().ml), kName).state(), GetParam().vertex);
}

INSTANTIATE_TEST_SUITE_P(Rules, States,
                         ::testing::Values(Row{Job::QUEUED, aip::JOB_STATE_QUEUED},
                                           Row{Job::PREPARING, aip::JOB_STATE_PENDING},
                                           Row{Job::RUNNING, aip::JOB_STATE_RUNNING},
                                           Row{Job::SUCCEEDED, aip::JOB_STATE_SUCCEEDED},
                                           Row{Job::FAILED, aip::JOB_STATE_FAILED},
                                           Row{Job::CANCELLING, aip::JOB_STATE_CANCELLING},
                                           Row{Job::CANCELLED, aip::JOB_STATE_CANCELLED},
                                           Row{Job::STATE_UNSPECIFIED, aip::JOB_STATE_UNSPECIFIED}));

TEST(CustomJobOf, IsTheRequestWithTheJobsState) {
  Job now = Now(Job::RUNNING);
  now.mutable_start_time()->set_seconds(110);
  (*now.mutable_training_output()->mutable_web_access_uris())["worker-replica-1"] = "https://h/1";
  const aip::CustomJob answer = CustomJobOf(Asked(), now, kName);
  EXPECT_EQ(answer.name(), kName);
  EXPECT_EQ(answer.display_name(), "c");
  EXPECT_EQ(answer.labels().at("a"), "b");
  EXPECT_EQ(answer.job_spec().SerializeAsString(), Asked().job_spec().SerializeAsString());
  EXPECT_EQ(answer.create_time().seconds(), 100);
  EXPECT_EQ(answer.start_time().seconds(), 110);
  EXPECT_EQ(answer.update_time().seconds(), 110);
  EXPECT_FALSE(answer.has_end_time());
  EXPECT_FALSE(answer.has_error());
  EXPECT_EQ(answer.web_access_uris().at("workerpool1-1"), "https://h/1");
}

TEST(CustomJobOf, HasTheErrorOfAnEndedJob) {
  Job now = Now(Job::FAILED);
  now.mutable_end_time()->set_seconds(120);
  now.set_error_message("The replica master 0 exited with a non-zero status of 1.");
  const aip::CustomJob failed = CustomJobOf(Asked(), now, kName);
  EXPECT_EQ(failed.error().code(), 3);
  EXPECT_EQ(failed.error().message(), now.error_message());
  EXPECT_EQ(failed.end_time().seconds(), 120);
  EXPECT_EQ(failed.update_time().seconds(), 120);
  const aip::CustomJob cancelled = CustomJobOf(Asked(), Now(Job::CANCELLED), kName);
  EXPECT_EQ(cancelled.error().code(), 1);
  EXPECT_EQ(cancelled.error().message(), "CANCELED");
}

TEST(CustomJobOfMlJob, DescribesItsPools) {
  Job job;
  job.set_job_id("census");
  job.set_state(Job::SUCCEEDED);
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-8");
  input.mutable_master_config()->mutable_accelerator_config()->set_type(
      ml::v1::AcceleratorConfig::NVIDIA_TESLA_A100);
  input.mutable_master_config()->mutable_accelerator_config()->set_count(2);
  input.set_parameter_server_type("n1-standard-4");
  input.set_parameter_server_count(3);
  input.add_package_uris("gs://b/t.tar.gz");
  input.set_python_module("trainer.task");
  input.add_args("--x");
  input.set_runtime_version("2.8");
  input.set_job_dir("gs://b/out");
  const aip::CustomJob answer = CustomJobOf(job, kName);
  EXPECT_EQ(answer.display_name(), "census");
  EXPECT_EQ(answer.state(), aip::JOB_STATE_SUCCEEDED);
  const aip::CustomJobSpec& spec = answer.job_spec();
  ASSERT_EQ(spec.worker_pool_specs_size(), 3);
  EXPECT_EQ(spec.worker_pool_specs(1).ByteSizeLong(), 0U);
  const aip::WorkerPoolSpec& master = spec.worker_pool_specs(0);
  EXPECT_EQ(master.machine_spec().machine_type(), "n1-standard-8");
  EXPECT_EQ(master.machine_spec().accelerator_type(), aip::NVIDIA_TESLA_A100);
  EXPECT_EQ(master.machine_spec().accelerator_count(), 2);
  EXPECT_EQ(master.replica_count(), 1);
  EXPECT_EQ(master.python_package_spec().python_module(), "trainer.task");
  EXPECT_THAT(master.python_package_spec().args(), ElementsAre("--x"));
  EXPECT_EQ(master.python_package_spec().executor_image_uri(),
            "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest");
  EXPECT_EQ(spec.worker_pool_specs(2).replica_count(), 3);
  EXPECT_EQ(spec.base_output_directory().output_uri_prefix(), "gs://b/out");
}

TEST(CustomJobOfMlJob, ShowsPackagesOfRoles) {
  Job job;
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_scale_tier(ml::v1::TrainingInput::CUSTOM);
  input.set_master_type("n1-standard-4");
  input.set_worker_type("n1-standard-4");
  input.set_worker_count(1);
  input.mutable_master_config()->set_image_uri("gcr.io/p/img");
  input.mutable_worker_config()->set_image_uri("gcr.io/p/python");
  input.mutable_worker_config()->set_python_module("judge.task");
  input.mutable_worker_config()->add_package_uris("gs://b/judge.whl");
  const aip::CustomJobSpec spec = CustomJobOf(job, kName).job_spec();
  ASSERT_EQ(spec.worker_pool_specs_size(), 2);
  EXPECT_EQ(spec.worker_pool_specs(0).container_spec().image_uri(), "gcr.io/p/img");
  const aip::PythonPackageSpec& package = spec.worker_pool_specs(1).python_package_spec();
  EXPECT_EQ(package.executor_image_uri(), "gcr.io/p/python");
  EXPECT_EQ(package.python_module(), "judge.task");
  EXPECT_THAT(package.package_uris(), ElementsAre("gs://b/judge.whl"));
}

TEST(CustomJobOfMlJob, GivesBackWhatJobOfMade) {
  const aip::CustomJob asked = Asked();
  const aip::CustomJob answer = CustomJobOf(Now(Job::QUEUED), kName);
  EXPECT_EQ(answer.display_name(), "c");
  EXPECT_EQ(answer.job_spec().worker_pool_specs(0).SerializeAsString(),
            asked.job_spec().worker_pool_specs(0).SerializeAsString());
}

TEST(CustomJobOfMlJob, DescribesScaleTiers) {
  Job job;
  job.mutable_training_input()->set_scale_tier(ml::v1::TrainingInput::STANDARD_1);
  job.mutable_training_input()->mutable_master_config()->set_image_uri("gcr.io/p/img");
  const aip::CustomJobSpec spec = CustomJobOf(job, kName).job_spec();
  ASSERT_EQ(spec.worker_pool_specs_size(), 3);
  EXPECT_GT(spec.worker_pool_specs(1).replica_count(), 0);
  EXPECT_EQ(spec.worker_pool_specs(1).container_spec().image_uri(), "gcr.io/p/img");
}

}  // namespace
}  // namespace trainyard::vertex::custom_job_answer_test
