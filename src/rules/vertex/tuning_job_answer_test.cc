#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "rules/vertex/testing/parse_jobs.h"
#include "rules/vertex/tuning_job.h"

namespace trainyard::vertex::tuning_job_answer_test {
namespace {

using ml::v1::HyperparameterOutput;
using ml::v1::Job;
using testing::ParseTuningJob;

constexpr const char* kName = "projects/p/locations/us-central1/hyperparameterTuningJobs/7";

aip::HyperparameterTuningJob Asked() {
  return ParseTuningJob(R"({"displayName": "h", "maxTrialCount": 4, "parallelTrialCount": 2,
    "studySpec": {"metrics": [{"metricId": "accuracy", "goal": "MINIMIZE"}], "algorithm": "RANDOM_SEARCH",
      "decayCurveStoppingSpec": {}, "parameters": [
      {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1}, "scaleType": "UNIT_LOG_SCALE"},
      {"parameterId": "u", "integerValueSpec": {"minValue": 4, "maxValue": 128}},
      {"parameterId": "c", "categoricalValueSpec": {"values": ["1", "relu"]}},
      {"parameterId": "d", "discreteValueSpec": {"values": [16, 32]}}]},
    "trialJobSpec": {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1,
      "containerSpec": {"imageUri": "gcr.io/p/img"}}]}})");
}

/// The job of that request with two trials, the best one first.
Job Now(Job::State state) {
  Job now = JobOf(Asked(), "us-central1", 7).value().job;
  now.set_state(state);
  now.mutable_create_time()->set_seconds(100);
  HyperparameterOutput& best = *now.mutable_training_output()->add_trials();
  best.set_trial_id("2");
  best.set_state(HyperparameterOutput::SUCCEEDED);
  for (const auto& [name, value] :
       {std::pair{"lr", "0.01"}, std::pair{"u", "5"}, std::pair{"c", "1"}, std::pair{"d", "16"}})
    (*best.mutable_hyperparameters())[name] = value;
  best.mutable_final_metric()->set_objective_value(0.5);
  best.mutable_final_metric()->set_training_step(10);
  best.mutable_start_time()->set_seconds(110);
  best.mutable_end_time()->set_seconds(120);
  HyperparameterOutput& active = *now.mutable_training_output()->add_trials();
  active.set_trial_id("1");
  active.set_state(HyperparameterOutput::RUNNING);
  (*active.mutable_web_access_uris())["master-replica-0"] = "https://h/0";
  return now;
}

TEST(TuningJobOf, IsTheRequestWithItsTrials) {
  Job now = Now(Job::RUNNING);
  now.mutable_start_time()->set_seconds(105);
  const aip::HyperparameterTuningJob answer = TuningJobOf(Asked(), now, kName);
  EXPECT_EQ(answer.name(), kName);
  EXPECT_EQ(answer.state(), aip::JOB_STATE_RUNNING);
  EXPECT_EQ(answer.create_time().seconds(), 100);
  EXPECT_EQ(answer.start_time().seconds(), 105);
  EXPECT_FALSE(answer.has_end_time());
  EXPECT_FALSE(answer.has_error());
  EXPECT_EQ(answer.study_spec().SerializeAsString(), Asked().study_spec().SerializeAsString());
  ASSERT_EQ(answer.trials_size(), 2);
  EXPECT_EQ(wire::PrintJsonCompact(answer.trials(0)),
            R"({"id":"1","state":"ACTIVE","webAccessUris":{"workerpool0-0":"https://h/0"}})");
  EXPECT_EQ(
      wire::PrintJsonCompact(answer.trials(1)),
      R"({"id":"2","state":"SUCCEEDED","parameters":[{"parameterId":"lr","value":0.01},)"
      R"({"parameterId":"u","value":5},{"parameterId":"c","value":"1"},{"parameterId":"d","value":16}],)"
      R"("finalMeasurement":{"stepCount":"10","metrics":[{"metricId":"accuracy","value":0.5}]},)"
      R"("startTime":"1970-01-01T00:01:50Z","endTime":"1970-01-01T00:02:00Z"})");
}

TEST(TuningJobOf, HasTheValuesOfAllMetrics) {
  aip::HyperparameterTuningJob asked = Asked();
  asked.mutable_study_spec()->clear_automated_stopping_spec();
  for (const char* name : {"loss", "auc"}) {
    aip::StudySpec::MetricSpec& metric = *asked.mutable_study_spec()->add_metrics();
    metric.set_metric_id(name);
    metric.set_goal(aip::StudySpec::MetricSpec::MINIMIZE);
  }
  Job now = JobOf(asked, "us-central1", 7).value().job;
  HyperparameterOutput& trial = *now.mutable_training_output()->add_trials();
  trial.mutable_final_metric()->set_objective_value(0.5);
  (*trial.mutable_final_metric()->mutable_further_values())["auc"] = 0.25;
  (*trial.mutable_final_metric()->mutable_further_values())["loss"] = 2;
  *trial.add_all_metrics() = trial.final_metric();
  const aip::HyperparameterTuningJob answer = TuningJobOf(asked, now, kName);
  EXPECT_EQ(wire::PrintJsonCompact(answer.trials(0).final_measurement()),
            R"({"metrics":[{"metricId":"accuracy","value":0.5},{"metricId":"loss","value":2},)"
            R"({"metricId":"auc","value":0.25}]})");
  EXPECT_EQ(answer.trials(0).measurements(0).SerializeAsString(),
            answer.trials(0).final_measurement().SerializeAsString());
  EXPECT_EQ(TuningJobOf(now, kName).study_spec().SerializeAsString(), asked.study_spec().SerializeAsString());
}

TEST(TuningJobOf, HasTheErrorOfAnEndedJob) {
  Job now = Now(Job::FAILED);
  now.mutable_end_time()->set_seconds(130);
  now.set_error_message("Too many trials failed.");
  const aip::HyperparameterTuningJob answer = TuningJobOf(Asked(), now, kName);
  EXPECT_EQ(answer.state(), aip::JOB_STATE_FAILED);
  EXPECT_EQ(answer.end_time().seconds(), 130);
  EXPECT_EQ(answer.error().code(), 3);
  EXPECT_EQ(answer.error().message(), "Too many trials failed.");
}

TEST(TuningJobOf, ReplacesTheOutputsOfTheRequest) {
  aip::HyperparameterTuningJob asked = Asked();
  asked.add_trials()->set_id("9");
  asked.mutable_error()->set_code(5);
  asked.mutable_end_time()->set_seconds(1);
  const aip::HyperparameterTuningJob answer = TuningJobOf(asked, Now(Job::QUEUED), kName);
  EXPECT_EQ(answer.trials_size(), 2);
  EXPECT_FALSE(answer.has_error());
  EXPECT_FALSE(answer.has_end_time());
}

struct Row {
  HyperparameterOutput::State ml;
  aip::Trial::State vertex;
  const char* reason;
};

class TrialStates : public ::testing::TestWithParam<Row> {};

TEST_P(TrialStates, HaveCounterparts) {
  Job now = Now(Job::RUNNING);
  now.mutable_training_output()->mutable_trials(1)->set_state(GetParam().ml);
  const aip::Trial trial = TuningJobOf(Asked(), now, kName).trials(0);
  EXPECT_EQ(trial.state(), GetParam().vertex);
  EXPECT_EQ(trial.infeasible_reason(), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, TrialStates,
    ::testing::Values(Row{HyperparameterOutput::QUEUED, aip::Trial::REQUESTED, ""},
                      Row{HyperparameterOutput::PREPARING, aip::Trial::ACTIVE, ""},
                      Row{HyperparameterOutput::RUNNING, aip::Trial::ACTIVE, ""},
                      Row{HyperparameterOutput::CANCELLING, aip::Trial::STOPPING, ""},
                      Row{HyperparameterOutput::SUCCEEDED, aip::Trial::SUCCEEDED, ""},
                      Row{HyperparameterOutput::FAILED, aip::Trial::INFEASIBLE, "The trial failed."},
                      Row{HyperparameterOutput::CANCELLED, aip::Trial::INFEASIBLE,
                          "The trial was cancelled."},
                      Row{HyperparameterOutput::STATE_UNSPECIFIED, aip::Trial::STATE_UNSPECIFIED, ""}));

TEST(TuningJobOfMlJob, DescribesWhatJobOfMade) {
  const aip::HyperparameterTuningJob asked = Asked();
  const aip::HyperparameterTuningJob answer = TuningJobOf(Now(Job::RUNNING), kName);
  EXPECT_EQ(answer.display_name(), "h");
  EXPECT_EQ(answer.max_trial_count(), 4);
  EXPECT_EQ(answer.parallel_trial_count(), 2);
  EXPECT_EQ(answer.trial_job_spec().worker_pool_specs(0).SerializeAsString(),
            asked.trial_job_spec().worker_pool_specs(0).SerializeAsString());
  aip::StudySpec study = asked.study_spec();
  study.mutable_median_automated_stopping_spec();  // ml v1 has one kind of early stopping
  EXPECT_EQ(answer.study_spec().SerializeAsString(), study.SerializeAsString());
  EXPECT_EQ(answer.trials_size(), 2);
}

TEST(TuningJobOfMlJob, PutsConditionalParametersIntoTheirParents) {
  aip::HyperparameterTuningJob asked = Asked();
  const auto add = [](aip::StudySpec::ParameterSpec& parent, const char* name) -> auto& {
    auto& conditional = *parent.add_conditional_parameter_specs();
    conditional.mutable_parameter_spec()->set_parameter_id(name);
    conditional.mutable_parameter_spec()->mutable_integer_value_spec()->set_max_value(3);
    return conditional;
  };
  aip::StudySpec& study = *asked.mutable_study_spec();
  add(*study.mutable_parameters(2), "a").mutable_parent_categorical_values()->add_values("1");
  auto& of_discrete = add(*study.mutable_parameters(3), "b");
  of_discrete.mutable_parent_discrete_values()->add_values(32);
  add(*of_discrete.mutable_parameter_spec(), "c").mutable_parent_int_values()->add_values(2);
  study.mutable_median_automated_stopping_spec();
  const Job now = JobOf(asked, "us-central1", 7).value().job;
  EXPECT_EQ(TuningJobOf(now, kName).study_spec().SerializeAsString(), study.SerializeAsString());
}

// Protobuf prints and reads only JSON of some depth: a client must be able to read, and to send again, the
// job with the most conditions above each other that validation lets through (rules_tuning.cc).
TEST(TuningJobOfMlJob, IsReadableWithEightConditionsAboveEachOther) {
  Job deep;
  for (int i = 0; i <= 8; ++i) {
    ml::v1::ParameterSpec& param = *deep.mutable_training_input()->mutable_hyperparameters()->add_params();
    param.set_parameter_name("p" + std::to_string(i));
    param.set_type(ml::v1::ParameterSpec::CATEGORICAL);
    param.add_categorical_values("a");
    if (i == 0) continue;
    param.mutable_condition()->set_parameter_name("p" + std::to_string(i - 1));
    param.mutable_condition()->add_values("a");
  }
  aip::ListHyperparameterTuningJobsResponse page;
  *page.add_hyperparameter_tuning_jobs() = TuningJobOf(deep, kName);
  aip::HyperparameterTuningJob read;
  EXPECT_TRUE(wire::ParseJson(wire::PrintJson(page.hyperparameter_tuning_jobs(0)), read));
  EXPECT_THAT(wire::PrintJson(page), ::testing::HasSubstr("\"p8\""));
}

TEST(TuningJobOfMlJob, HasTheDefaultsOfMlJobs) {
  Job now;
  now.set_job_id("census");
  now.mutable_training_input()->mutable_hyperparameters()->add_params()->set_parameter_name("lr");
  const aip::HyperparameterTuningJob answer = TuningJobOf(now, kName);
  EXPECT_EQ(answer.display_name(), "census");
  EXPECT_EQ(answer.max_trial_count(), 1);
  EXPECT_EQ(answer.parallel_trial_count(), 1);
  EXPECT_EQ(answer.study_spec().metrics(0).metric_id(), "training/hptuning/metric");
  EXPECT_EQ(answer.study_spec().metrics(0).goal(), aip::StudySpec::MetricSpec::MAXIMIZE);
}

}  // namespace
}  // namespace trainyard::vertex::tuning_job_answer_test
