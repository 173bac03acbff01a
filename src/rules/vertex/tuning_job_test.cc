#include "rules/vertex/tuning_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/validation/validate.h"
#include "rules/vertex/testing/parse_jobs.h"

namespace trainyard::vertex::tuning_job_test {
namespace {

using aip::StudySpec;
using ml::v1::HyperparameterSpec;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ParseTuningJob;

constexpr std::int64_t kNumber = 6714869074010893105;
constexpr const char* kRegion = "us-central1";

// Requests of gcloud 528 and of the SDK 2.7.0 by gRPC and by REST, as recorded.
constexpr const char* kGcloud = R"({"displayName": "h2", "labels": {"x": "y"}, "maxFailedTrialCount": 1,
  "maxTrialCount": 4, "parallelTrialCount": 2, "studySpec": {"algorithm": "RANDOM_SEARCH",
  "measurementSelectionType": "BEST_MEASUREMENT", "medianAutomatedStoppingSpec": {"useElapsedDuration": true},
  "metrics": [{"goal": "MAXIMIZE", "metricId": "accuracy"}], "parameters": [
    {"doubleValueSpec": {"maxValue": 1.0, "minValue": 0.001}, "parameterId": "lr", "scaleType": "UNIT_LOG_SCALE"},
    {"categoricalValueSpec": {"values": ["adam", "sgd"]}, "conditionalParameterSpecs": [{"parameterSpec": {
      "discreteValueSpec": {"values": [0.5, 0.9]}, "parameterId": "momentum"},
      "parentCategoricalValues": {"values": ["sgd"]}}], "parameterId": "opt"},
    {"integerValueSpec": {"maxValue": "10", "minValue": "1"}, "parameterId": "units"}]},
  "trialJobSpec": {"workerPoolSpecs": [{"containerSpec": {"imageUri": "gcr.io/p/img"},
    "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}]}})";
constexpr const char* kSdk = R"({"displayName": "hpj", "studySpec": {
  "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}], "parameters": [
    {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1}, "scaleType": "UNIT_LOG_SCALE"},
    {"parameterId": "u", "integerValueSpec": {"minValue": "4", "maxValue": "128"}, "scaleType": "UNIT_LINEAR_SCALE"},
    {"parameterId": "act", "categoricalValueSpec": {"values": ["relu", "selu"]}},
    {"parameterId": "b", "discreteValueSpec": {"values": [16.0, 32.0]}, "scaleType": "UNIT_LINEAR_SCALE"}],
  "algorithm": "RANDOM_SEARCH", "measurementSelectionType": "BEST_MEASUREMENT"}, "maxTrialCount": 4,
  "parallelTrialCount": 2, "maxFailedTrialCount": 1, "trialJobSpec": {"workerPoolSpecs": [
    {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": {
      "imageUri": "gcr.io/p/img", "command": ["python", "a.py"], "args": ["--x=1"]}}], "baseOutputDirectory": {
    "outputUriPrefix": "gs://my-bucket/aiplatform-custom-job-2026-11-28-06:19:59.401"}}})";
constexpr const char* kSdkRest =
    R"({"displayName": "hpj", "studySpec": {"metrics": [{"metricId": "accuracy", "goal": 1}],
  "parameters": [
    {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1}, "scaleType": 2},
    {"parameterId": "u", "integerValueSpec": {"minValue": "4", "maxValue": "128"}, "scaleType": 1},
    {"parameterId": "act", "categoricalValueSpec": {"values": ["relu", "selu"]}},
    {"parameterId": "b", "discreteValueSpec": {"values": [16.0, 32.0]}, "scaleType": 1}],
  "algorithm": 3, "measurementSelectionType": 2}, "maxTrialCount": 4, "parallelTrialCount": 2,
  "maxFailedTrialCount": 1, "trialJobSpec": {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"},
    "replicaCount": "1", "containerSpec": {"imageUri": "gcr.io/p/img", "command": ["python", "a.py"],
    "args": ["--x=1"]}}], "baseOutputDirectory": {
    "outputUriPrefix": "gs://my-bucket/aiplatform-custom-job-2026-11-28-06:27:02.818"}}})";

Translated Translate(const aip::HyperparameterTuningJob& asked) {
  const auto translated = JobOf(asked, kRegion, kNumber);
  EXPECT_TRUE(translated.has_value()) << translated.error().message;
  return translated.value_or(Translated{});
}

class RecordedTuning : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedTuning, BecomesAValidJob) {
  jobs::ValidationContext context;
  context.containers = true;
  context.tuning = true;
  const Translated translated = Translate(ParseTuningJob(GetParam()));
  std::string found;
  for (const Error& error : jobs::FindViolations(translated.job, context))
    found += error.field + ": " + error.message + "\n";
  EXPECT_EQ(found, "");
  EXPECT_EQ(translated.job.job_id(), "vertex_6714869074010893105");
  EXPECT_EQ(translated.job.display_name(), "hpj");
  const HyperparameterSpec& spec = translated.job.training_input().hyperparameters();
  EXPECT_EQ(spec.ShortDebugString(),
            "algorithm: RANDOM_SEARCH goal: MAXIMIZE hyperparameter_metric_tag: \"accuracy\" "
            "max_failed_trials: 1 max_parallel_trials: 2 max_trials: 4 "
            "params { max_value: 0.1 min_value: 0.001 parameter_name: \"lr\" scale_type: UNIT_LOG_SCALE "
            "type: DOUBLE } "
            "params { max_value: 128 min_value: 4 parameter_name: \"u\" scale_type: UNIT_LINEAR_SCALE "
            "type: INTEGER } "
            "params { categorical_values: \"relu\" categorical_values: \"selu\" parameter_name: \"act\" "
            "type: CATEGORICAL } "
            "params { discrete_values: 16 discrete_values: 32 parameter_name: \"b\" "
            "scale_type: UNIT_LINEAR_SCALE type: DISCRETE }");
  EXPECT_THAT(translated.job.training_input().job_dir(), HasSubstr("gs://my-bucket/aiplatform-custom-job-"));
  EXPECT_THAT(translated.remarks, ElementsAre(HasSubstr("study_spec.measurement_selection_type")));
}

INSTANTIATE_TEST_SUITE_P(Requests, RecordedTuning, ::testing::Values(kSdk, kSdkRest));

TEST(TuningJobOfVertex, PutsConditionalParametersBehindTheirParent) {
  jobs::ValidationContext context;
  context.containers = true;
  context.tuning = true;
  const Translated translated = Translate(ParseTuningJob(kGcloud));
  EXPECT_TRUE(jobs::FindViolations(translated.job, context).empty());
  const auto& params = translated.job.training_input().hyperparameters().params();
  ASSERT_EQ(params.size(), 4);
  EXPECT_FALSE(params[1].has_condition());
  EXPECT_EQ(params[2].ShortDebugString(),
            "discrete_values: 0.5 discrete_values: 0.9 parameter_name: \"momentum\" type: DISCRETE "
            "condition { parameter_name: \"opt\" values: \"sgd\" }");
  EXPECT_EQ(params[3].parameter_name(), "units");
}

/// In the order of HyperparameterSpec.params: d, i of d, c of i, e of d, x.
constexpr const char* kNested = R"({"displayName": "n", "maxTrialCount": 1, "parallelTrialCount": 1,
  "studySpec": {"metrics": [{"goal": "MAXIMIZE", "metricId": "accuracy"}], "parameters": [
    {"parameterId": "d", "discreteValueSpec": {"values": [100000, 0.5]}, "conditionalParameterSpecs": [
      {"parentDiscreteValues": {"values": [100000]}, "parameterSpec": {
        "parameterId": "i", "integerValueSpec": {"maxValue": "3", "minValue": "1"}, "conditionalParameterSpecs": [
          {"parentIntValues": {"values": ["2", "3"]}, "parameterSpec": {
            "parameterId": "c", "categoricalValueSpec": {"values": ["k"]}}}]}},
      {"parentDiscreteValues": {"values": [0.5]}, "parameterSpec": {
        "parameterId": "e", "doubleValueSpec": {"maxValue": 1}}}]},
    {"parameterId": "x", "doubleValueSpec": {"maxValue": 1}}]},
  "trialJobSpec": {"workerPoolSpecs": [{"containerSpec": {"imageUri": "gcr.io/p/img"},
    "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}]}})";
constexpr const char* kD = "study_spec.parameters[0].conditional_parameter_specs";

TEST(TuningJobOfVertex, WritesValuesOfConditionsAsTheCommandLineShowsThem) {
  const Translated translated = Translate(ParseTuningJob(kNested));
  std::vector<std::string> conditions;
  for (const auto& param : translated.job.training_input().hyperparameters().params())
    conditions.push_back(param.parameter_name() + ": " + param.condition().ShortDebugString());
  EXPECT_THAT(conditions, ElementsAre("d: ", "i: parameter_name: \"d\" values: \"100000\"",
                                      "c: parameter_name: \"i\" values: \"2\" values: \"3\"",
                                      "e: parameter_name: \"d\" values: \"0.5\"", "x: "));
}

TEST(TuningJobOfVertex, WantsConditionsOfTheParentsType) {
  aip::HyperparameterTuningJob asked = ParseTuningJob(kNested);
  auto& parent = *asked.mutable_study_spec()->mutable_parameters(0);
  parent.mutable_conditional_parameter_specs(0)->mutable_parent_int_values()->add_values(100000);
  parent.mutable_conditional_parameter_specs(1)->clear_parent_value_condition();
  auto& second = *asked.mutable_study_spec()->mutable_parameters(1);
  second.add_conditional_parameter_specs()->mutable_parameter_spec()->CopyFrom(
      parent.conditional_parameter_specs(1).parameter_spec());
  const auto refused = JobOf(asked, kRegion, kNumber);
  ASSERT_FALSE(refused.has_value());
  std::vector<std::string> fields;
  for (const FieldViolation& violation : refused.error().violations) fields.push_back(violation.field);
  EXPECT_THAT(fields, ElementsAre(std::string(kD) + "[0].parent_discrete_values",
                                  std::string(kD) + "[1].parent_discrete_values",
                                  "study_spec.parameters[1].conditional_parameter_specs[0]"));
}

TEST(TuningJobField, FindsConditionalParameters) {
  const aip::HyperparameterTuningJob asked = ParseTuningJob(kNested);
  const std::string i = std::string(kD) + "[0]";
  const std::string c = i + ".parameter_spec.conditional_parameter_specs[0]";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"params[0].min_value", "study_spec.parameters[0]"},
      {"params[1].parameter_name", i + ".parameter_spec.parameter_id"},
      {"params[1].condition.values", i + ".parent_discrete_values.values"},
      {"params[2].scale_type", c + ".parameter_spec.scale_type"},
      {"params[2].condition.values", c + ".parent_int_values.values"},
      {"params[3].max_value", std::string(kD) + "[1].parameter_spec"},
      {"params[4].parameter_name", "study_spec.parameters[1].parameter_id"}};
  for (const auto& [ml, vertex] : rows)
    EXPECT_EQ(TuningJobField(asked, "hyperparameters." + ml), vertex) << ml;
}

TEST(TuningJobOfVertex, StopsTrialsEarly) {
  const Translated translated = Translate(ParseTuningJob(kGcloud));
  EXPECT_TRUE(translated.job.training_input().hyperparameters().enable_trial_early_stopping());
  EXPECT_EQ(translated.job.labels().at("x"), "y");
  EXPECT_THAT(translated.remarks, Contains(HasSubstr("study_spec.median_automated_stopping_spec")));
}

TEST(TuningJobOfVertex, HasSeveralMetrics) {
  aip::HyperparameterTuningJob asked = ParseTuningJob(kSdk);
  StudySpec& study = *asked.mutable_study_spec();
  study.clear_measurement_selection_type();
  StudySpec::MetricSpec& loss = *study.add_metrics();
  loss.set_metric_id("loss");
  loss.set_goal(StudySpec::MetricSpec::MINIMIZE);
  study.mutable_convex_automated_stopping_spec();
  const Translated translated = Translate(asked);
  const HyperparameterSpec& spec = translated.job.training_input().hyperparameters();
  EXPECT_EQ(spec.hyperparameter_metric_tag(), "accuracy");
  EXPECT_EQ(spec.goal(), HyperparameterSpec::MAXIMIZE);
  ASSERT_EQ(spec.further_metrics_size(), 1);
  EXPECT_EQ(spec.further_metrics(0).ShortDebugString(), "hyperparameter_metric_tag: \"loss\" goal: MINIMIZE");
  EXPECT_FALSE(spec.enable_trial_early_stopping());
  EXPECT_THAT(translated.remarks, ElementsAre("study_spec.convex_automated_stopping_spec has no effect with "
                                              "several metrics: no trial is stopped early."));
}

TEST(TuningJobOfVertex, SaysWhatHasNoEffect) {
  aip::HyperparameterTuningJob asked = ParseTuningJob(kSdk);
  StudySpec& study = *asked.mutable_study_spec();
  study.set_measurement_selection_type(StudySpec::LAST_MEASUREMENT);
  study.set_observation_noise(StudySpec::HIGH);
  study.mutable_study_stopping_config();
  study.mutable_parameters(0)->mutable_double_value_spec()->set_default_value(0.01);
  asked.mutable_trial_job_spec()->set_network("n");
  EXPECT_THAT(Translate(asked).remarks,
              ElementsAre("trial_job_spec.network has no effect on this server.",
                          "study_spec.parameters[0].double_value_spec.default_value has no effect on this "
                          "server.",
                          "study_spec.observation_noise has no effect on this server.",
                          "study_spec.study_stopping_config has no effect on this server."));
}

struct Row {
  const char* name;
  void (*spoil)(aip::HyperparameterTuningJob& asked);
  const char* field;
  const char* text;
};

class BadTuningJob : public ::testing::TestWithParam<Row> {};

TEST_P(BadTuningJob, IsRefused) {
  aip::HyperparameterTuningJob asked = ParseTuningJob(kSdk);
  GetParam().spoil(asked);
  const auto translated = JobOf(asked, kRegion, kNumber);
  ASSERT_FALSE(translated.has_value());
  ASSERT_EQ(translated.error().violations.size(), 1U) << translated.error().message;
  EXPECT_EQ(translated.error().violations[0].field, GetParam().field);
  EXPECT_THAT(translated.error().message, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadTuningJob,
    ::testing::Values(
        Row{"no_name", [](auto& asked) { asked.clear_display_name(); }, "display_name", "required"},
        Row{"no_trials", [](auto& asked) { asked.clear_max_trial_count(); }, "max_trial_count", "required"},
        Row{"no_parallel", [](auto& asked) { asked.clear_parallel_trial_count(); }, "parallel_trial_count",
            "required"},
        Row{"negative", [](auto& asked) { asked.set_max_trial_count(-1); }, "max_trial_count", "at least 1"},
        Row{"failed", [](auto& asked) { asked.set_max_failed_trial_count(-1); }, "max_failed_trial_count",
            "negative"},
        Row{"no_metric", [](auto& asked) { asked.mutable_study_spec()->clear_metrics(); },
            "study_spec.metrics", "required"},
        Row{"further_metric",
            [](auto& asked) {
              asked.mutable_study_spec()->add_metrics()->set_goal(StudySpec::MetricSpec::MINIMIZE);
            },
            "study_spec.metrics[1].metric_id", "required"},
        Row{"further_goal",
            [](auto& asked) { asked.mutable_study_spec()->add_metrics()->set_metric_id("loss"); },
            "study_spec.metrics[1].goal", "MAXIMIZE or MINIMIZE"},
        Row{"metric_id",
            [](auto& asked) { asked.mutable_study_spec()->mutable_metrics(0)->clear_metric_id(); },
            "study_spec.metrics[0].metric_id", "required"},
        Row{"goal", [](auto& asked) { asked.mutable_study_spec()->mutable_metrics(0)->clear_goal(); },
            "study_spec.metrics[0].goal", "MAXIMIZE or MINIMIZE"},
        Row{"safety",
            [](auto& asked) { asked.mutable_study_spec()->mutable_metrics(0)->mutable_safety_config(); },
            "study_spec.metrics[0].safety_config", "Leave out"},
        Row{"no_parameters", [](auto& asked) { asked.mutable_study_spec()->clear_parameters(); },
            "study_spec.parameters", "required"},
        Row{"no_kind",
            [](auto& asked) {
              asked.mutable_study_spec()->mutable_parameters(2)->clear_parameter_value_spec();
            },
            "study_spec.parameters[2]", "Exactly one"},
        Row{"parameter_id",
            [](auto& asked) { asked.mutable_study_spec()->mutable_parameters(2)->clear_parameter_id(); },
            "study_spec.parameters[2].parameter_id", "required"},
        Row{"scale",
            [](auto& asked) {
              asked.mutable_study_spec()->mutable_parameters(0)->set_scale_type(
                  static_cast<StudySpec::ParameterSpec::ScaleType>(9));
            },
            "study_spec.parameters[0].scale_type", "number 9"},
        Row{"algorithm",
            [](auto& asked) {
              asked.mutable_study_spec()->set_algorithm(static_cast<StudySpec::Algorithm>(1));
            },
            "study_spec.algorithm", "number 1"},
        Row{"pool",
            [](auto& asked) {
              asked.mutable_trial_job_spec()->mutable_worker_pool_specs(0)->set_replica_count(2);
            },
            "trial_job_spec.worker_pool_specs[0].replica_count", "must be 1"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TuningJobOfVertex, ListsAllMistakes) {
  const auto refused = JobOf(aip::HyperparameterTuningJob(), kRegion, kNumber);
  ASSERT_FALSE(refused.has_value());
  std::vector<std::string> fields;
  for (const FieldViolation& violation : refused.error().violations) fields.push_back(violation.field);
  EXPECT_THAT(fields, ElementsAre("display_name", "trial_job_spec.worker_pool_specs", "max_trial_count",
                                  "parallel_trial_count", "study_spec.metrics", "study_spec.parameters"));
}

TEST(TuningJobField, NamesFieldsOfTheRequest) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"hyperparameters.max_trials", "max_trial_count"},
      {"training_input.hyperparameters.params", "study_spec.parameters"},
      {"hyperparameters.params[12].parameter_name", "study_spec.parameters[12].parameter_id"},
      {"hyperparameters.params[0].scale_type", "study_spec.parameters[0].scale_type"},
      {"hyperparameters.params[0].min_value", "study_spec.parameters[0]"},
      {"hyperparameters.hyperparameter_metric_tag", "study_spec.metrics[0].metric_id"},
      {"hyperparameters.further_metrics", "study_spec.metrics"},
      {"hyperparameters.further_metrics[1].hyperparameter_metric_tag", "study_spec.metrics[2].metric_id"},
      {"hyperparameters.further_metrics[0].goal", "study_spec.metrics[1].goal"},
      {"worker_count", "trial_job_spec.worker_pool_specs[1].replica_count"},
      {"labels", "labels"},
      {"", ""}};
  for (const auto& [ml, vertex] : rows) EXPECT_EQ(TuningJobField({}, ml), vertex) << ml;
}

TEST(InTuningJob, ListsWhatValidationFound) {
  const Error error =
      InTuningJob({}, InvalidArgument("hyperparameters.params[0].type", "GRID_SEARCH requires INTEGER."));
  EXPECT_EQ(error.message,
            "List of found errors:\t1.Field: study_spec.parameters[0]; Message: GRID_SEARCH requires "
            "INTEGER.\t");
  EXPECT_THAT(InTuningJob({}, FailedPrecondition("No machine.", "master_type")).field,
              HasSubstr("trial_job_spec.worker_pool_specs[0]"));
  EXPECT_THAT(InTuningJob({}, NotFound("x")).violations, IsEmpty());
}

}  // namespace
}  // namespace trainyard::vertex::tuning_job_test
