#include "stores/studies/trial_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/wire/json.h"
#include "base/wire/time.h"
#include "stores/studies/study_config.h"
#include "stores/studies/trial_values.h"

namespace trainyard::studies::trial_rules_test {
namespace {

using ml::v1::Trial;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr SysTime kNow{seconds{1'700'000'000}};

template <class Message>
Message Read(const std::string& json) {
  Message message;
  const Status read = wire::ParseJson(json, message);
  EXPECT_TRUE(read) << read.error().message;
  return message;
}

/// A double, an integer, and a category whose value "deep" has a discrete child. Metrics: acc up, cost down.
tuning::StudySpec Spec(bool two_metrics = false) {
  std::string metrics = R"([{"metric": "acc", "goal": "MAXIMIZE"})";
  metrics += two_metrics ? R"(, {"metric": "cost", "goal": "MINIMIZE"}])" : "]";
  return SpecOf(Read<ml::v1::StudyConfig>(R"({"metrics": )" + metrics + R"(, "parameters": [
    {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": 0, "maxValue": 1}},
    {"parameter": "n", "type": "INTEGER", "integerValueSpec": {"minValue": -2, "maxValue": 2}},
    {"parameter": "model", "type": "CATEGORICAL", "categoricalValueSpec": {"values": ["linear", "deep"]},
     "childParameterSpecs": [{"parameter": "units", "type": "DISCRETE", "discreteValueSpec": {"values": [16, 64]},
                              "parentCategoricalValues": {"values": ["deep"]}}]}]})"),
                1);
}

constexpr char kLinear[] =
    R"([{"parameter": "x", "floatValue": 0}, {"parameter": "n", "intValue": "-2"}, {"parameter": "model", "stringValue": "linear"}])";

Trial Asked(const std::string& parameters = kLinear, const std::string& more = {}) {
  return Read<Trial>(R"({"parameters": )" + parameters + more + "}");
}

Trial Made(const std::string& more = {}) {
  Result<Trial> made = MakeTrial(Spec(), Asked(kLinear, more), kNow);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : Trial();
}

ml::v1::AddTrialMeasurementRequest Report(const std::string& json) {
  return Read<ml::v1::AddTrialMeasurementRequest>(R"({"measurement": )" + json + "}");
}

TEST(TrialValues, GoToThePointAndBack) {
  const tuning::StudySpec spec = Spec();
  const Trial deep = Asked(
      R"([{"parameter": "units", "floatValue": 64}, {"parameter": "model", "stringValue": "deep"}, {"parameter": "n", "intValue": 2}, {"parameter": "x", "floatValue": 0.25}])");
  const Result<tuning::Point> point = PointOf(spec.space, deep);
  ASSERT_TRUE(point) << point.error().message;
  EXPECT_THAT(*point, ElementsAre(0.25, 2, 1, 64));
  Trial back;
  ASSERT_TRUE(SetParameters(spec.space, *point, back));
  EXPECT_EQ(wire::PrintJsonCompact(back),
            R"({"parameters":[{"floatValue":0.25,"parameter":"x"},{"intValue":"2","parameter":"n"},)"
            R"({"parameter":"model","stringValue":"deep"},{"floatValue":64,"parameter":"units"}]})");
  const Result<tuning::Point> linear = PointOf(spec.space, Asked());
  ASSERT_TRUE(linear);
  EXPECT_TRUE(std::isnan((*linear)[3])) << "the child does not count";
  ASSERT_TRUE(SetParameters(spec.space, *linear, back));
  EXPECT_EQ(back.parameters_size(), 3);
  EXPECT_TRUE(back.parameters(0).has_float_value()) << "a zero is there, and is printed";
}

TEST(TrialValues, APointOfAnotherSpaceIsABugThatIsSaid) {
  Trial trial;
  EXPECT_EQ(SetParameters(Spec().space, {0.5}, trial).error().code, Code::kInternal);
  EXPECT_EQ(SetParameters(Spec().space, {0.5, 3, 0, tuning::kInactive}, trial).error().code, Code::kInternal);
}

struct Row {
  const char* name;
  const char* parameters;
  const char* field;
  const char* message;
};
class WrongParameters : public testing::TestWithParam<Row> {};
TEST_P(WrongParameters, AreRefused) {
  const auto made = MakeTrial(Spec(), Asked(GetParam().parameters), kNow);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), InvalidArgument(GetParam().field, GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    Rules, WrongParameters,
    testing::Values(
        Row{"missing", R"([{"parameter": "x", "floatValue": 0}])", "trial.parameters",
            "The parameter 'n' is missing."},
        Row{"twice", R"([{"parameter": "x", "floatValue": 0}, {"parameter": "x", "floatValue": 0}])",
            "trial.parameters[1].parameter", "The parameter 'x' is given twice."},
        Row{"out_of_range", R"([{"parameter": "x", "floatValue": 1.5}])", "trial.parameters[0].float_value",
            "The value is not one that 'x' may have."},
        Row{"not_a_number", R"([{"parameter": "x", "floatValue": "NaN"}])", "trial.parameters[0].float_value",
            "The value is not one that 'x' may have."},
        Row{"of_another_type", R"([{"parameter": "x", "intValue": 1}])", "trial.parameters[0].float_value",
            "The value of 'x' must be given in this field."},
        Row{"no_category",
            R"([{"parameter": "x", "floatValue": 0}, {"parameter": "n", "intValue": 0}, {"parameter": "model", "stringValue": "wide"}])",
            "trial.parameters[2].string_value", "The value is not one that 'model' may have."},
        Row{"unknown",
            R"([{"parameter": "y", "floatValue": 0}, {"parameter": "x", "floatValue": 0}, {"parameter": "n", "intValue": 0}, {"parameter": "model", "stringValue": "linear"}])",
            "trial.parameters[0].parameter", "The study has no parameter 'y'."},
        Row{"child_of_another_value",
            R"([{"parameter": "x", "floatValue": 0}, {"parameter": "n", "intValue": 0}, {"parameter": "model", "stringValue": "linear"}, {"parameter": "units", "floatValue": 16}])",
            "trial.parameters[3].parameter",
            "The parameter 'units' does not count with its parent's value."}),
    [](const auto& row) { return row.param.name; });

TEST(MakeTrial, IsRequestedUnlessSomebodyEvaluatesItOrDid) {
  EXPECT_EQ(Made().state(), Trial::REQUESTED);
  EXPECT_FALSE(Made().has_start_time());
  EXPECT_EQ(Made(R"(, "state": "ACTIVE")").state(), Trial::ACTIVE);
  const Trial done = Made(R"(, "finalMeasurement": {"metrics": [{"metric": "acc", "value": 0}]})");
  EXPECT_EQ(done.state(), Trial::COMPLETED);
  EXPECT_TRUE(done.has_end_time());
  const Trial last = Made(
      R"(, "state": "COMPLETED", "measurements": [{"stepCount": 2, "metrics": [{"metric": "acc", "value": 5}]},
      {"stepCount": 1, "metrics": [{"metric": "acc", "value": 6}]}])");
  EXPECT_EQ(last.final_measurement().metrics(0).value(), 5);
  EXPECT_EQ(last.measurements(0).step_count(), 1) << "in the order of steps";
}

TEST(MakeTrial, IgnoresWhatOnlyTheServiceSays) {
  const Trial made =
      Made(R"(, "name": "n", "clientId": "c", "trialInfeasible": true, "infeasibleReason": "r")");
  EXPECT_EQ(made.name() + made.client_id() + made.infeasible_reason(), "");
  EXPECT_FALSE(made.trial_infeasible());
}

TEST(MakeTrial, RefusesStatesThatItCannotBeIn) {
  const auto error = [](const std::string& more) {
    return MakeTrial(Spec(), Asked(kLinear, more), kNow).error().field;
  };
  EXPECT_EQ(error(R"(, "state": "STOPPING")"), "trial.state");
  EXPECT_EQ(error(R"(, "state": "COMPLETED")"), "trial.final_measurement");
  EXPECT_EQ(error(R"(, "finalMeasurement": {"metrics": [{"metric": "loss", "value": 1}]})"),
            "trial.final_measurement.metrics");
  EXPECT_EQ(error(R"(, "state": "ACTIVE", "finalMeasurement": {"metrics": [{"metric": "acc", "value": 1}]})"),
            "trial.state");
}

TEST(AddMeasurement, KeepsThemInOrder) {
  Trial trial = Made(R"(, "state": "ACTIVE")");
  ASSERT_TRUE(AddMeasurement(
      trial,
      Report(
          R"({"stepCount": 2, "elapsedTime": {"seconds": 9}, "metrics": [{"metric": "acc", "value": 2}]})"),
      kNow));
  ASSERT_TRUE(AddMeasurement(
      trial, Report(R"({"stepCount": 1, "elapsedTime": "3s", "metrics": [{"metric": "acc", "value": 1}]})"),
      kNow));
  ASSERT_TRUE(AddMeasurement(trial, Report(R"({"stepCount": 1, "metrics": [{"metric": "acc", "value": 3}]})"),
                             kNow + seconds{5}));
  ASSERT_TRUE(AddMeasurement(
      trial, Report(R"({"stepCount": 2, "elapsedTime": "9s", "metrics": [{"metric": "acc", "value": 4}]})"),
      kNow));
  std::vector<std::string> seen;
  for (const auto& one : trial.measurements())
    seen.push_back(std::to_string(one.step_count()) + "@" + std::to_string(one.elapsed_time().seconds()) +
                   "=" + std::to_string(static_cast<int>(one.metrics(0).value())));
  EXPECT_THAT(seen, ElementsAre("1@3=1", "1@5=3", "2@9=4"))
      << "without a time it is that since the start; the newest of one place stands";
}

TEST(AddMeasurement, RefusesWhatIsNone) {
  Trial trial = Made();
  const auto field = [&trial](const std::string& json) {
    return AddMeasurement(trial, Report(json), kNow).error().field;
  };
  EXPECT_EQ(AddMeasurement(trial, {}, kNow).error(),
            InvalidArgument("measurement", "This field is required."));
  EXPECT_EQ(field("{}"), "measurement.metrics");
  EXPECT_EQ(field(R"({"metrics": [{"value": 1}]})"), "measurement.metrics[0].metric");
  EXPECT_EQ(field(R"({"metrics": [{"metric": "acc"}]})"), "measurement.metrics[0].value");
  EXPECT_EQ(field(R"({"metrics": [{"metric": "a", "value": 1}, {"metric": "a", "value": 1}]})"),
            "measurement.metrics[1].metric");
  EXPECT_EQ(field(R"({"stepCount": -1, "metrics": [{"metric": "acc", "value": 1}]})"),
            "measurement.step_count");
  EXPECT_EQ(field(R"({"elapsedTime": "-1s", "metrics": [{"metric": "acc", "value": 1}]})"),
            "measurement.elapsed_time");
  EXPECT_EQ(trial.state(), Trial::REQUESTED) << "what is refused changes nothing";
  ASSERT_TRUE(AddMeasurement(trial, Report(R"({"metrics": [{"metric": "acc", "value": 1}]})"), kNow));
  EXPECT_EQ(trial.state(), Trial::ACTIVE) << "somebody evaluates it";
}

TEST(Complete, TakesTheMeasurementThatHasAllMetrics) {
  Trial trial = Made(R"(, "state": "ACTIVE")");
  ASSERT_TRUE(
      AddMeasurement(trial, Report(R"({"stepCount": 1, "metrics": [{"metric": "acc", "value": 1}]})"), kNow));
  ASSERT_TRUE(AddMeasurement(
      trial, Report(R"({"stepCount": 2, "metrics": [{"metric": "loss", "value": 9}]})"), kNow));
  ASSERT_TRUE(Complete(Spec(), trial, {}, kNow));
  EXPECT_EQ(trial.final_measurement().step_count(), 1);
  EXPECT_EQ(trial.state(), Trial::COMPLETED);
  EXPECT_TRUE(trial.has_end_time());
  EXPECT_EQ(Complete(Spec(), trial, {}, kNow).error(),
            FailedPrecondition("The trial is COMPLETED already.", "name"));
  EXPECT_EQ(Stop(trial).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(
      AddMeasurement(trial, Report(R"({"metrics": [{"metric": "acc", "value": 1}]})"), kNow).error().code,
      Code::kFailedPrecondition);
}

TEST(Complete, SaysWhichMetricThereIsNone) {
  Trial trial = Made(R"(, "state": "ACTIVE")");
  EXPECT_EQ(
      Complete(Spec(), trial, {}, kNow).error(),
      FailedPrecondition("The trial has no measurement that could become its final one: give one, or mark "
                         "the trial as infeasible.",
                         "final_measurement"));
  ASSERT_TRUE(AddMeasurement(trial, Report(R"({"metrics": [{"metric": "loss", "value": 9}]})"), kNow));
  EXPECT_EQ(Complete(Spec(), trial, {}, kNow).error(),
            FailedPrecondition("No measurement of the trial has all metrics of the study: the last one lacks "
                               "'acc' and has 'loss'.",
                               "final_measurement"));
  EXPECT_EQ(trial.state(), Trial::ACTIVE);
  ASSERT_TRUE(Stop(trial));
  ASSERT_TRUE(Stop(trial)) << "again";
  EXPECT_EQ(trial.state(), Trial::STOPPING);
}

TEST(Complete, AResultThatIsNotFiniteIsInfeasible) {
  Trial trial = Made();
  ASSERT_TRUE(Complete(Spec(), trial,
                       Read<ml::v1::CompleteTrialRequest>(
                           R"({"finalMeasurement": {"metrics": [{"metric": "acc", "value": "NaN"}]}})"),
                       kNow));
  EXPECT_EQ(trial.state(), Trial::COMPLETED);
  EXPECT_TRUE(trial.trial_infeasible());
  EXPECT_EQ(trial.infeasible_reason(), "The final measurement has a value that is not finite.");
}

TEST(Complete, MarksWhatIsInfeasible) {
  Trial trial = Made();
  const auto wrong = Read<ml::v1::CompleteTrialRequest>(R"({"infeasibleReason": "diverged"})");
  EXPECT_EQ(Complete(Spec(), trial, wrong, kNow).error().field, "infeasible_reason");
  const auto right = Read<ml::v1::CompleteTrialRequest>(
      R"({"trial_infeasible": true, "infeasible_reason": "diverged", "finalMeasurement": {"metrics": [{"metric": "acc", "value": 1}]}})");
  ASSERT_TRUE(Complete(Spec(), trial, right, kNow));
  EXPECT_TRUE(trial.trial_infeasible());
  EXPECT_EQ(trial.infeasible_reason(), "diverged");
  EXPECT_FALSE(trial.has_final_measurement()) << "ignored";
}

TEST(ToTuning, TellsHowATrialEnded) {
  using State = tuning::Trial::State;
  const auto state = [](const Trial& trial, bool stopped) {
    const auto made = ToTuning(Spec(), trial, 3, stopped);
    EXPECT_TRUE(made) << made.error().message;
    return made->state;
  };
  EXPECT_EQ(state(Made(), false), State::kActive);
  Trial trial = Made(
      R"(, "measurements": [{"stepCount": 4, "elapsedTime": "2.5s", "metrics": [{"metric": "acc", "value": 1}]},
                                           {"stepCount": 5, "metrics": [{"metric": "loss", "value": 1}]}])");
  const auto active = ToTuning(Spec(), trial, 3, false);
  ASSERT_TRUE(active);
  ASSERT_EQ(active->curve.size(), 2U);
  EXPECT_EQ(active->curve[0].step, 4);
  EXPECT_EQ(active->curve[0].elapsed_s, 2.5);
  EXPECT_THAT(active->curve[0].values, ElementsAre(1));
  EXPECT_TRUE(std::isnan(active->curve[1].values[0]));
  ASSERT_TRUE(Complete(Spec(), trial, {}, kNow));
  EXPECT_EQ(state(trial, false), State::kCompleted);
  EXPECT_EQ(state(trial, true), State::kStoppedEarly);
  trial.mutable_final_measurement()->mutable_metrics(0)->set_value(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(state(trial, false), State::kInfeasible) << "no finite value";
}

/// Trials that ended with these values of (acc, cost).
std::vector<Trial> Ended(const std::vector<std::pair<double, double>>& values) {
  std::vector<Trial> trials;
  for (const auto& [acc, cost] : values) {
    Trial& trial = trials.emplace_back();
    trial.set_state(Trial::COMPLETED);
    ml::v1::Measurement::Metric& first = *trial.mutable_final_measurement()->add_metrics();
    first.set_metric("acc");
    first.set_value(acc);
    ml::v1::Measurement::Metric& second = *trial.mutable_final_measurement()->add_metrics();
    second.set_metric("cost");
    second.set_value(cost);
  }
  return trials;
}

TEST(OptimalTrials, AreThoseThatNoneIsBetterThan) {
  std::vector<Trial> trials = Ended({{1, 5}, {2, 4}, {2, 5}, {3, 9}, {2, 4}, {9, 0}, {8, 8}});
  trials[5].set_trial_infeasible(true);
  trials[6].set_state(Trial::ACTIVE);
  EXPECT_THAT(OptimalTrials(Spec(true), trials), ElementsAre(1, 3, 4));
  EXPECT_THAT(OptimalTrials(Spec(false), trials), ElementsAre(3)) << "one metric: the best";
  trials[3].mutable_final_measurement()->mutable_metrics(0)->set_value(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(OptimalTrials(Spec(false), trials), ElementsAre(1)) << "the first of the best";
  EXPECT_THAT(OptimalTrials(Spec(true), {}), testing::IsEmpty());
}

}  // namespace
}  // namespace trainyard::studies::trial_rules_test
