#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rules/jobs/prepare.h"
#include "rules/jobs/service_lines.h"
#include "rules/jobs/study.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using ml::v1::Job;
using replica::v1::MetricReport;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTwoMetrics = R"(
  hyperparameter_metric_tag: 'accuracy'
  further_metrics { hyperparameter_metric_tag: 'loss' goal: MINIMIZE }
  params { parameter_name: 'x' type: DOUBLE max_value: 1 })";

JobRecord TuningBy(const std::string& spec) {
  Job request;
  request.set_job_id("tune");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      spec, request.mutable_training_input()->mutable_hyperparameters()));
  JobRecord tuning = MakeRecord("p", request, "2.15", SysTime(std::chrono::seconds(1)));
  MakeTuning(tuning);
  return tuning;
}

/// A trial of that tuning job in that state; it has ended.
JobRecord EndedTrial(const std::string& spec, Job::State state) {
  const JobRecord tuning = TuningBy(spec);
  const auto event = NextTrial(tuning, StudyOf(tuning).space, {0.5});
  JobRecord trial = MakeTrial(tuning, event.trial_created(), SysTime(std::chrono::seconds(2)));
  trial.mutable_job()->set_state(state);
  trial.mutable_job()->mutable_end_time()->set_seconds(9);
  return trial;
}

MetricReport Reported(const std::vector<double>& accuracy, const std::vector<double>& loss) {
  MetricReport report;
  for (const double value : accuracy) {
    report.add_measurements()->set_value(value);
    report.mutable_measurements()->rbegin()->set_step(report.measurements_size());
  }
  if (loss.empty()) return report;
  report.add_further()->set_tag("loss");
  for (const double value : loss) report.mutable_further(0)->add_measurements()->set_value(value);
  return report;
}

TEST(SeveralMetrics, AreTheObjectivesOfTheStudy) {
  const JobRecord tuning = TuningBy(kTwoMetrics);
  EXPECT_THAT(MetricTags(tuning), ElementsAre("accuracy", "loss"));
  const tuning::StudySpec study = StudyOf(tuning);
  ASSERT_EQ(study.metrics.size(), 2U);
  EXPECT_EQ(study.metrics[0].name, "accuracy");
  EXPECT_TRUE(study.metrics[0].maximize);
  EXPECT_EQ(study.metrics[1].name, "loss");
  EXPECT_FALSE(study.metrics[1].maximize);
  EXPECT_THAT(MetricTags(TuningBy("")), ElementsAre(kMetricTagDefault));
}

TEST(SeveralMetrics, ATrialHasTheLastValueOfEach) {
  const JobRecord trial = EndedTrial(kTwoMetrics, Job::SUCCEEDED);
  const auto output = TrialOutput(trial, Reported({0.5, 0.75}, {4, 2}));
  EXPECT_EQ(output.final_metric().objective_value(), 0.75);
  EXPECT_EQ(output.final_metric().training_step(), 2);
  EXPECT_EQ(output.final_metric().further_values().at("loss"), 2);
  EXPECT_EQ(MetricsText(trial, output.final_metric()), "accuracy 0.75, loss 2");

  const tuning::Trial known = StudyTrial(trial, Reported({0.5, 0.75}, {4, 2}), true);
  EXPECT_EQ(known.state, tuning::Trial::State::kCompleted);
  EXPECT_THAT(known.values, ElementsAre(0.75, 2));
  ASSERT_EQ(known.curve.size(), 2U);
  EXPECT_EQ(known.curve[1].values.at(0), 0.75);
  EXPECT_TRUE(std::isnan(known.curve[1].values.at(1)));
}

TEST(SeveralMetrics, ATrialThatLacksOneHasNoResult) {
  const JobRecord trial = EndedTrial(kTwoMetrics, Job::SUCCEEDED);
  for (const MetricReport& report :
       {Reported({0.5}, {}), Reported({}, {2}), Reported({0.5}, {2, std::nan("")})}) {
    EXPECT_FALSE(TrialOutput(trial, report).has_final_metric()) << report.ShortDebugString();
    const tuning::Trial known = StudyTrial(trial, report, false);
    EXPECT_EQ(known.state, tuning::Trial::State::kInfeasible);
    EXPECT_THAT(known.values, IsEmpty());
  }
  const JobRecord failed = EndedTrial(kTwoMetrics, Job::FAILED);
  EXPECT_FALSE(TrialOutput(failed, Reported({0.5}, {2})).has_final_metric());
}

TEST(SeveralMetrics, AreInTheLog) {
  JobRecord trial = EndedTrial(kTwoMetrics, Job::SUCCEEDED);
  control::v1::Event event;
  event.mutable_ended();
  *trial.mutable_trial()->mutable_report() = Reported({0.75}, {2});
  EXPECT_EQ(TuningLinesFor(trial, event)->at(0).text, "Trial 1 completed: accuracy 0.75, loss 2 at step 1.");
  *trial.mutable_trial()->mutable_report() = Reported({0.75}, {});
  EXPECT_EQ(TuningLinesFor(trial, event)->at(0).text, "Trial 1 completed without a value of every metric.");
}

TEST(SeveralMetrics, StopNoTrialEarly) {
  const std::string early = "enable_trial_early_stopping: true ";
  EXPECT_TRUE(StopsEarly(TuningBy(early)));
  EXPECT_FALSE(StopsEarly(TuningBy("")));
  const JobRecord tuning = TuningBy(early + kTwoMetrics);
  EXPECT_FALSE(StopsEarly(tuning));
  EXPECT_THAT(tuning.notes(), ElementsAre("hyperparameters: enable_trial_early_stopping has no effect with "
                                          "several metrics: no trial is stopped early."));
  EXPECT_THAT(TuningBy(early).notes(), IsEmpty());
}

TEST(SeveralMetrics, AreInheritedByAJobThatResumes) {
  JobRecord previous = TuningBy(kTwoMetrics);
  previous.mutable_job()->set_job_id("first");
  previous.mutable_job()->mutable_end_time()->set_seconds(9);
  const std::string resume = "resume_previous_job_id: 'first' ";
  ml::v1::HyperparameterSpec spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(resume, &spec));
  EXPECT_THAT(InheritSpec(previous, spec), HasSubstr("params, hyperparameterMetricTag and furtherMetrics."));
  EXPECT_EQ(spec.further_metrics(0).hyperparameter_metric_tag(), "loss");

  EXPECT_TRUE(CheckResumable(TuningBy(resume + kTwoMetrics), previous).has_value());
  JobRecord other = TuningBy(resume + kTwoMetrics);
  other.mutable_job()
      ->mutable_training_input()
      ->mutable_hyperparameters()
      ->mutable_further_metrics(0)
      ->set_goal(ml::v1::HyperparameterSpec::MAXIMIZE);
  EXPECT_THAT(CheckResumable(other, previous).error().message, HasSubstr("its further_metrics are others."));
}

TEST(SeveralMetrics, AreNotAmongTheFieldsOfTheOriginal) {
  const JobRecord tuning = TuningBy(kTwoMetrics);
  EXPECT_THAT(WithoutOwnFields(tuning.job().training_input()).hyperparameters().further_metrics(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::jobs
