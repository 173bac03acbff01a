#include "rules/vertex/training_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/wire/json.h"
#include "rules/validation/validate.h"
#include "rules/vertex/testing/parse_jobs.h"

namespace trainyard::vertex::training_pipeline_test {
namespace {

using ml::v1::Job;
using ml::v1::TrainingInput;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ParsePipeline;

constexpr std::int64_t kNumber = 6688728652703785578;
constexpr const char* kRegion = "us-central1";

// Requests of the SDK 2.7.0, as recorded: CustomTrainingJob, CustomPythonPackageTrainingJob (by REST) and
// CustomContainerTrainingJob. The first one has numbers as arguments, the second one has nulls.
constexpr const char* kScript = R"({"displayName": "ctj", "trainingTaskDefinition":
  "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml", "trainingTaskInputs": {
  "worker_pool_specs": [{"disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
    "python_package_spec": {"package_uris": [
      "gs://my-bucket/aiplatform-2026-11-28-06:20:20.715-aiplatform_custom_trainer_script-0.1.tar.gz"],
      "python_module": "aiplatform_custom_trainer_script.task",
      "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-11:latest", "args": ["--e", 1.0],
      "env": [{"name": "A", "value": "b"}]}, "machine_spec": {"accelerator_type": "NVIDIA_TESLA_T4",
      "machine_type": "n1-standard-8", "accelerator_count": 1.0}, "replica_count": 1.0},
    {"disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0}, "python_package_spec": {"package_uris": [
      "gs://my-bucket/aiplatform-2026-11-28-06:20:20.715-aiplatform_custom_trainer_script-0.1.tar.gz"],
      "python_module": "aiplatform_custom_trainer_script.task",
      "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.1-11:latest", "args": ["--e", 1.0],
      "env": [{"name": "A", "value": "b"}]}, "machine_spec": {"accelerator_type": "NVIDIA_TESLA_T4",
      "machine_type": "n1-standard-8", "accelerator_count": 1.0}, "replica_count": 2.0}],
  "base_output_directory": {"output_uri_prefix": "gs://my-bucket/out"}}})";
constexpr const char* kPackage = R"({"displayName": "cppj", "trainingTaskDefinition":
  "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml", "trainingTaskInputs": {
  "base_output_directory": {"output_uri_prefix": "gs://my-bucket/aiplatform-custom-training-2026-11-28-06:27:22.724"},
  "scheduling": {"max_wait_duration": null, "strategy": null, "disable_retries": false,
    "restart_job_on_worker_restart": false, "timeout": "100s"}, "enable_web_access": true, "worker_pool_specs": [
    {"machine_spec": {"machine_type": "n1-standard-4"}, "disk_spec": {"boot_disk_type": "pd-ssd",
      "boot_disk_size_gb": 100.0}, "replica_count": 1.0, "python_package_spec": {"python_module": "trainer.task",
      "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest",
      "package_uris": ["gs://my-bucket/t-0.1.tar.gz"]}}]}})";
constexpr const char* kContainer = R"({"displayName": "cctj", "trainingTaskDefinition":
  "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml", "trainingTaskInputs": {
  "worker_pool_specs": [{"replica_count": 1.0, "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
      "machine_spec": {"machine_type": "n1-standard-4"},
      "containerSpec": {"imageUri": "gcr.io/p/img", "args": ["--x"], "command": ["python3", "x.py"]}},
    {"replica_count": 1.0, "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
      "machine_spec": {"machine_type": "n1-standard-4"},
      "containerSpec": {"imageUri": "gcr.io/p/img", "args": ["--x"], "command": ["python3", "x.py"]}},
    {"replica_count": 1.0, "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
      "machine_spec": {"machine_type": "n1-highcpu-16"},
      "container_spec": {"image_uri": "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"}}],
  "base_output_directory": {"output_uri_prefix": "gs://my-bucket/aiplatform-custom-training-2026-11-28-06:26:17.548"}}})";
// Also recorded: a model to upload, and a strategy by its number.
constexpr const char* kModel = R"({"displayName": "ctjm", "trainingTaskDefinition":
  "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml", "trainingTaskInputs": {
  "worker_pool_specs": [{"python_package_spec": {"executor_image_uri":
    "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest", "python_module": "aiplatform_custom_trainer_script.task",
    "package_uris": ["gs://my-bucket/aiplatform_custom_trainer_script-0.1.tar.gz"]},
    "machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1.0}]},
  "modelToUpload": {"displayName": "mm", "versionAliases": ["default"],
    "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-8:latest"}}})";
constexpr const char* kStrategy = R"({"displayName": "strat", "trainingTaskDefinition":
  "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml", "trainingTaskInputs": {
  "worker_pool_specs": [{"disk_spec": {"boot_disk_size_gb": 100.0, "boot_disk_type": "pd-ssd"}, "replica_count": 1.0,
    "machine_spec": {"machine_type": "n1-standard-4"}, "python_package_spec": {
    "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest", "python_module": "trainer.task",
    "package_uris": ["gs://my-bucket/t-0.1.tar.gz"]}}], "tensorboard": "projects/p/locations/us-central1/tensorboards/1",
  "service_account": "me@p.iam.gserviceaccount.com", "base_output_directory": {"output_uri_prefix":
    "gs://my-bucket/aiplatform-custom-training-2026-11-28-06:46:19.754"}, "scheduling": {"disable_retries": false,
    "strategy": 4.0, "restart_job_on_worker_restart": false, "timeout": null, "max_wait_duration": "1800s"}}})";
// Not recorded: no client that we know sends one.
constexpr const char* kTuning = R"({"displayName": "t", "trainingTaskDefinition":
  "gs://google-cloud-aiplatform/schema/trainingjob/definition/hyperparameter_tuning_task_1.0.0.yaml",
  "trainingTaskInputs": {"maxTrialCount": 4.0, "parallel_trial_count": 2.0, "studySpec": {
    "metrics": [{"metric_id": "accuracy", "goal": 1.0}], "parameters": [{"parameter_id": "u",
      "integer_value_spec": {"min_value": 4.0, "max_value": 128.0}, "scale_type": 1.0}]},
    "trial_job_spec": {"worker_pool_specs": [{"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1.0,
      "container_spec": {"image_uri": "gcr.io/p/img"}}]}}})";

Translated Translate(const char* json) {
  const auto translated = JobOf(ParsePipeline(json), kRegion, kNumber);
  EXPECT_TRUE(translated.has_value()) << translated.error().message;
  return translated.value_or(Translated{});
}

class RecordedPipeline : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedPipeline, BecomesAValidJob) {
  jobs::ValidationContext context;
  context.containers = true;
  context.tuning = true;
  context.gpus = true;
  context.runtimes = {{.version = "pytorch", .python_versions = {"3.7"}},
                      {.version = "2.8", .python_versions = {"3.7"}}};
  std::string found;
  for (const Error& error : jobs::FindViolations(Translate(GetParam()).job, context))
    found += error.field + ": " + error.message + "\n";
  EXPECT_EQ(found, "");
}

INSTANTIATE_TEST_SUITE_P(Requests, RecordedPipeline,
                         ::testing::Values(kScript, kPackage, kContainer, kModel, kTuning));

TEST(PipelineJob, ReadsNumbersOfFreeJson) {
  const Translated translated = Translate(kScript);
  EXPECT_EQ(translated.job.job_id(), "vertex_6688728652703785578");
  EXPECT_EQ(translated.job.display_name(), "ctj-custom-job");
  const TrainingInput& input = translated.job.training_input();
  EXPECT_THAT(input.args(), ElementsAre("--e", "1"));
  EXPECT_EQ(input.worker_count(), 2);
  EXPECT_EQ(input.master_config().accelerator_config().count(), 1);
  EXPECT_EQ(input.master_config().disk_config().boot_disk_size_gb(), 100);
  EXPECT_EQ(input.output_uri_prefix(), "gs://my-bucket/out");
  EXPECT_THAT(translated.remarks, IsEmpty());
}

TEST(PipelineJob, LeavesOutNulls) {
  const TrainingInput input = Translate(kPackage).job.training_input();
  EXPECT_TRUE(input.enable_web_access());
  EXPECT_EQ(input.scheduling().max_running_time().seconds(), 100);
  EXPECT_FALSE(input.scheduling().has_max_wait_time());
}

TEST(PipelineJob, RenamesRemarks) {
  EXPECT_THAT(Translate(kContainer).remarks,
              ElementsAre(HasSubstr("training_task_inputs.worker_pool_specs[2] is left out")));
}

TEST(PipelineJob, WritesArgumentsWithoutLosingDigits) {
  aip::TrainingPipeline asked = ParsePipeline(kPackage);
  auto& pool =
      *(*asked.mutable_training_task_inputs()->mutable_struct_value()->mutable_fields())["worker_pool_specs"]
           .mutable_list_value()
           ->mutable_values(0);
  auto& package = (*pool.mutable_struct_value()->mutable_fields())["python_package_spec"];
  auto& args = *(*package.mutable_struct_value()->mutable_fields())["args"].mutable_list_value();
  for (const double number : {0.1, 1e15, -3.0, 1234567890123456.0, 1e-7})
    args.add_values()->set_number_value(number);
  args.add_values()->set_string_value("1.0");
  args.add_values()->set_null_value(google::protobuf::NULL_VALUE);
  const auto translated = JobOf(asked, kRegion, kNumber);
  ASSERT_TRUE(translated.has_value()) << translated.error().message;
  EXPECT_THAT(translated->job.training_input().args(),
              ElementsAre("0.1", "1000000000000000", "-3", "1234567890123456", "1e-07", "1.0"));
}

TEST(PipelineJob, Tunes) {
  const Translated translated = Translate(kTuning);
  EXPECT_EQ(translated.job.display_name(), "t-hyperparameter-tuning-job");
  const auto& spec = translated.job.training_input().hyperparameters();
  EXPECT_EQ(spec.max_trials(), 4);
  EXPECT_EQ(spec.max_parallel_trials(), 2);
  EXPECT_EQ(spec.params(0).max_value(), 128);
  EXPECT_TRUE(IsTuning(ParsePipeline(kTuning)));
  EXPECT_FALSE(IsTuning(ParsePipeline(kScript)));
}

struct Row {
  const char* name;
  const char* json;
  void (*spoil)(aip::TrainingPipeline& asked);
  const char* field;
  const char* text;
};

google::protobuf::Value& Input(aip::TrainingPipeline& asked, const char* name) {
  return (*asked.mutable_training_task_inputs()->mutable_struct_value()->mutable_fields())[name];
}

class BadPipeline : public ::testing::TestWithParam<Row> {};

TEST_P(BadPipeline, IsRefused) {
  aip::TrainingPipeline asked = ParsePipeline(GetParam().json);
  GetParam().spoil(asked);
  const auto translated = JobOf(asked, kRegion, kNumber);
  ASSERT_FALSE(translated.has_value());
  EXPECT_EQ(translated.error().code, Code::kInvalidArgument);
  ASSERT_EQ(translated.error().violations.size(), 1U) << translated.error().message;
  EXPECT_EQ(translated.error().violations[0].field, GetParam().field);
  EXPECT_THAT(translated.error().message, HasSubstr("List of found errors:\t1.Field: "));
  EXPECT_THAT(translated.error().message, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadPipeline,
    ::testing::Values(
        Row{"model", kModel, [](auto& asked) { asked.mutable_model_to_upload()->clear_container_spec(); },
            "model_to_upload.container_spec.image_uri", "required"},
        Row{"tensorboard", kStrategy, [](auto&) {}, "training_task_inputs.tensorboard", "TensorBoard"},
        Row{"dataset", kPackage, [](auto& asked) { asked.mutable_input_data_config()->set_dataset_id("1"); },
            "input_data_config", "Managed datasets"},
        Row{"no_task", kPackage, [](auto& asked) { asked.clear_training_task_definition(); },
            "training_task_definition", "required"},
        Row{"automl", kPackage,
            [](auto& asked) {
              asked.set_training_task_definition("gs://google-cloud-aiplatform/automl_tabular_1.0.0.yaml");
            },
            "training_task_definition", "automl_tabular_1.0.0.yaml' is not supported"},
        Row{"no_name", kPackage, [](auto& asked) { asked.clear_display_name(); }, "display_name", "required"},
        Row{"no_inputs", kPackage, [](auto& asked) { asked.clear_training_task_inputs(); },
            "training_task_inputs", "must be an object"},
        Row{"text", kPackage,
            [](auto& asked) { asked.mutable_training_task_inputs()->set_string_value("x"); },
            "training_task_inputs", "must be an object"},
        Row{"unknown", kPackage, [](auto& asked) { Input(asked, "woker_pool").set_number_value(1); },
            "training_task_inputs", "Unknown name \"woker_pool\""},
        Row{"twice", kPackage, [](auto& asked) { Input(asked, "enableWebAccess").set_bool_value(true); },
            "training_task_inputs", "already set"},
        Row{"infinite", kTuning,
            [](auto& asked) {
              Input(asked, "maxTrialCount").set_number_value(std::numeric_limits<double>::infinity());
            },
            "training_task_inputs.max_trial_count", "Invalid value"},
        Row{"pools", kPackage,
            [](auto& asked) {
              Input(asked, "worker_pool_specs").mutable_list_value();
              Input(asked, "worker_pool_specs").mutable_list_value()->clear_values();
            },
            "training_task_inputs.worker_pool_specs", "At least one"},
        Row{"no_trials", kTuning, [](auto& asked) { Input(asked, "maxTrialCount").set_number_value(0); },
            "training_task_inputs.max_trial_count", "required"},
        Row{"no_study", kTuning,
            [](auto& asked) { Input(asked, "trial_job_spec").mutable_struct_value()->clear_fields(); },
            "training_task_inputs.trial_job_spec.worker_pool_specs", "At least one"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(PipelineJob, SaysWhatHasNoEffect) {
  aip::TrainingPipeline asked = ParsePipeline(kPackage);
  asked.set_model_id("m");
  asked.mutable_encryption_spec()->set_kms_key_name("k");
  EXPECT_THAT(
      JobOf(asked, kRegion, kNumber).value().remarks,
      ElementsAre("encryption_spec has no effect on this server.", "model_id has no effect on this server."));
}

TEST(PipelineJob, ReadsAStrategyByItsNumber) {
  aip::TrainingPipeline asked = ParsePipeline(kStrategy);
  Input(asked, "tensorboard").set_null_value(google::protobuf::NULL_VALUE);
  const auto translated = JobOf(asked, kRegion, kNumber);
  ASSERT_TRUE(translated.has_value()) << translated.error().message;
  EXPECT_THAT(translated->remarks, Contains(HasSubstr("training_task_inputs.scheduling.strategy SPOT")));
  EXPECT_EQ(translated->job.training_input().scheduling().max_wait_time().seconds(), 1800);
}

TEST(BackingJobOf, IsTheCustomJob) {
  aip::TrainingPipeline asked = ParsePipeline(kScript);
  (*asked.mutable_labels())["a"] = "b";
  const aip::CustomJob job = BackingJobOf(asked).value();
  EXPECT_EQ(job.display_name(), "ctj-custom-job");
  EXPECT_EQ(job.labels().at("a"), "b");
  EXPECT_EQ(job.job_spec().worker_pool_specs_size(), 2);
  EXPECT_THAT(job.job_spec().worker_pool_specs(1).python_package_spec().args(), ElementsAre("--e", "1"));
  EXPECT_FALSE(BackingTuningJobOf(asked).has_value());
  EXPECT_FALSE(BackingJobOf(ParsePipeline(kTuning)).has_value());
  const aip::HyperparameterTuningJob tuning = BackingTuningJobOf(ParsePipeline(kTuning)).value();
  EXPECT_EQ(tuning.display_name(), "t-hyperparameter-tuning-job");
  EXPECT_EQ(tuning.max_trial_count(), 4);
}

const PipelineNames kNames{.pipeline = "pipelines/1", .backing_job = "customJobs/2", .model = "models/3"};

struct StateRow {
  Job::State ml;
  aip::PipelineState vertex;
};

class PipelineStates : public ::testing::TestWithParam<StateRow> {};

TEST_P(PipelineStates, HaveCounterparts) {
  Job now;
  now.set_state(GetParam().ml);
  EXPECT_EQ(PipelineOf(ParsePipeline(kScript), now, kNames).state(), GetParam().vertex);
}

INSTANTIATE_TEST_SUITE_P(Rules, PipelineStates,
                         ::testing::Values(StateRow{Job::QUEUED, aip::PIPELINE_STATE_QUEUED},
                                           StateRow{Job::PREPARING, aip::PIPELINE_STATE_PENDING},
                                           StateRow{Job::RUNNING, aip::PIPELINE_STATE_RUNNING},
                                           StateRow{Job::SUCCEEDED, aip::PIPELINE_STATE_SUCCEEDED},
                                           StateRow{Job::FAILED, aip::PIPELINE_STATE_FAILED},
                                           StateRow{Job::CANCELLING, aip::PIPELINE_STATE_CANCELLING},
                                           StateRow{Job::CANCELLED, aip::PIPELINE_STATE_CANCELLED},
                                           StateRow{Job::STATE_UNSPECIFIED,
                                                    aip::PIPELINE_STATE_UNSPECIFIED}));

TEST(PipelineOf, IsTheRequestWithTheJobsState) {
  const aip::TrainingPipeline asked = ParsePipeline(kScript);
  Job now = JobOf(asked, kRegion, kNumber).value().job;
  now.set_state(Job::FAILED);
  now.mutable_create_time()->set_seconds(100);
  now.mutable_end_time()->set_seconds(120);
  now.set_error_message("It failed.");
  const aip::TrainingPipeline answer = PipelineOf(asked, now, kNames);
  EXPECT_EQ(answer.name(), "pipelines/1");
  EXPECT_EQ(answer.display_name(), "ctj");
  EXPECT_EQ(wire::PrintJsonCompact(answer.training_task_inputs()),
            wire::PrintJsonCompact(asked.training_task_inputs()));
  EXPECT_EQ(wire::PrintJsonCompact(answer.training_task_metadata()),
            R"({"backingCustomJob":"customJobs/2"})");
  EXPECT_EQ(answer.create_time().seconds(), 100);
  EXPECT_EQ(answer.end_time().seconds(), 120);
  EXPECT_FALSE(answer.has_start_time());
  EXPECT_EQ(answer.error().code(), 3);
  EXPECT_EQ(answer.error().message(), "It failed.");
  EXPECT_EQ(wire::PrintJsonCompact(PipelineOf(ParsePipeline(kTuning), now, kNames).training_task_metadata()),
            R"({"backingHyperparameterTuningJob":"customJobs/2"})");
}

TEST(PipelineOf, NamesTheModelThatIsThere) {
  aip::TrainingPipeline asked = ParsePipeline(kModel);
  asked.mutable_model_to_upload()->set_name("forged");
  Job now;
  now.set_state(Job::RUNNING);
  EXPECT_EQ(PipelineOf(asked, now, kNames).model_to_upload().name(), "");
  now.set_state(Job::SUCCEEDED);
  const aip::TrainingPipeline answer = PipelineOf(asked, now, kNames);
  EXPECT_EQ(answer.model_to_upload().name(), "models/3");
  EXPECT_EQ(answer.model_to_upload().version_id(), "1");
  EXPECT_EQ(answer.model_to_upload().display_name(), "mm");
  EXPECT_FALSE(PipelineOf(ParsePipeline(kScript), now, kNames).has_model_to_upload());
}

TEST(InTrainingPipeline, NamesFieldsOfTheInputs) {
  EXPECT_EQ(InTrainingPipeline(ParsePipeline(kScript), InvalidArgument("worker_count", "Too many.")).message,
            "List of found errors:\t1.Field: training_task_inputs.worker_pool_specs[1].replica_count; "
            "Message: Too many.\t");
  EXPECT_EQ(
      InTrainingPipeline(ParsePipeline(kTuning), InvalidArgument("hyperparameters.max_trials", "Too many."))
          .violations[0]
          .field,
      "training_task_inputs.max_trial_count");
  EXPECT_EQ(
      InTrainingPipeline(ParsePipeline(kTuning), FailedPrecondition("No machine.", "master_type")).field,
      "training_task_inputs.trial_job_spec.worker_pool_specs[0].machine_spec.machine_type");
}

}  // namespace
}  // namespace trainyard::vertex::training_pipeline_test
