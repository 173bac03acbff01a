#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rules/jobs/prepare.h"
#include "rules/jobs/study.h"
#include "rules/jobs/trial.h"
#include "rules/tuning/tuner.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kParams = R"(
  params { parameter_name: 'opt' type: CATEGORICAL categorical_values: 'adam' categorical_values: 'sgd' }
  params { parameter_name: 'momentum' type: DISCRETE discrete_values: [0.9, 0.5, 16]
           condition { parameter_name: 'opt' values: 'sgd' } }
  params { parameter_name: 'steps' type: INTEGER min_value: 1 max_value: 2
           condition { parameter_name: 'momentum' values: '16' values: '0.5' } })";

JobRecord Tuning(const std::string& spec) {
  ml::v1::Job request;
  request.set_job_id("tune");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      spec, request.mutable_training_input()->mutable_hyperparameters()));
  JobRecord tuning = MakeRecord("p", request, "2.15", SysTime(std::chrono::seconds(1)));
  MakeTuning(tuning);
  return tuning;
}

JobRecord TrialAt(const JobRecord& tuning, const tuning::Point& point) {
  const Event event = NextTrial(tuning, StudyOf(tuning).space, point);
  return MakeTrial(tuning, event.trial_created(), SysTime(std::chrono::seconds(2)));
}

TEST(CoordinateOf, IsThatOfAValueOnTheCommandLine) {
  const JobRecord tuning = Tuning(kParams);
  const auto& params = tuning.job().training_input().hyperparameters().params();
  EXPECT_EQ(CoordinateOf(params[0], "adam"), 0);
  EXPECT_EQ(CoordinateOf(params[0], "sgd"), 1);
  EXPECT_EQ(CoordinateOf(params[0], "1"), std::nullopt);
  EXPECT_EQ(CoordinateOf(params[1], "0.5"), 0.5);
  EXPECT_EQ(CoordinateOf(params[1], "16"), 16);
  EXPECT_EQ(CoordinateOf(params[1], "16.0"), 16) << "the same number";
  EXPECT_EQ(CoordinateOf(params[1], "0.6"), std::nullopt);
  EXPECT_EQ(CoordinateOf(params[2], "2"), 2);
  for (const char* text : {"3", "0", "1.5", "", "1 ", "nan", "inf"})
    EXPECT_EQ(CoordinateOf(params[2], text), std::nullopt) << text;
  ml::v1::ParameterSpec range;
  range.set_type(ml::v1::ParameterSpec::DOUBLE);
  range.set_max_value(1);
  EXPECT_EQ(CoordinateOf(range, "0.5"), std::nullopt);
}

TEST(ConditionalParameter, IsActiveForCertainValuesOfItsParent) {
  const tuning::Space space = StudyOf(Tuning(kParams)).space;
  ASSERT_EQ(space.parameters.size(), 3U);
  EXPECT_FALSE(space.parameters[0].condition);
  ASSERT_TRUE(space.parameters[1].condition);
  EXPECT_EQ(space.parameters[1].condition->parent, 0);
  EXPECT_THAT(space.parameters[1].condition->values, ElementsAre(1));
  EXPECT_THAT(space.parameters[1].discrete, ElementsAre(0.5, 0.9, 16)) << "sorted: values are no indexes";
  ASSERT_TRUE(space.parameters[2].condition);
  EXPECT_EQ(space.parameters[2].condition->parent, 1);
  EXPECT_THAT(space.parameters[2].condition->values, ElementsAre(16, 0.5));
}

TEST(ConditionalParameter, HasNoFlagInTrialsWithoutIt) {
  const JobRecord tuning = Tuning(kParams);
  const JobRecord with = TrialAt(tuning, {1, 16, 2});
  EXPECT_THAT(TrialFlags(with), ElementsAre("--opt=sgd", "--momentum=16", "--steps=2"));
  const JobRecord without = TrialAt(tuning, {0, tuning::kInactive, tuning::kInactive});
  EXPECT_THAT(TrialFlags(without), ElementsAre("--opt=adam"));
  EXPECT_EQ(without.trial().hyperparameters().size(), 1U);
  EXPECT_EQ(ParametersText(without, without.trial().hyperparameters()), "opt=adam");
  EXPECT_EQ(TrialOutput(without, {}).hyperparameters().size(), 1U);
  const tuning::Trial known = StudyTrial(without, {}, false);
  ASSERT_EQ(known.point.size(), 3U) << "the tuner gets back what it proposed";
  EXPECT_EQ(known.point[0], 0);
  EXPECT_TRUE(std::isnan(known.point[1]));
}

TEST(ConditionalParameter, TheGridHasEachPossiblePointOnce) {
  const JobRecord tuning = Tuning(std::string(kParams) + " algorithm: GRID_SEARCH max_trials: 99");
  const tuning::StudySpec spec = StudyOf(tuning);
  tuning::Tuner tuner(spec);
  std::vector<std::string> seen;
  for (const tuning::Point& point : tuner.Suggest({}, 99, 0)) {
    const JobRecord trial = TrialAt(tuning, point);
    seen.push_back(ParametersText(trial, trial.trial().hyperparameters()));
  }
  EXPECT_THAT(seen, ElementsAre("opt=adam", "opt=sgd, momentum=0.5, steps=1",
                                "opt=sgd, momentum=0.5, steps=2", "opt=sgd, momentum=0.9",
                                "opt=sgd, momentum=16, steps=1", "opt=sgd, momentum=16, steps=2"));
}

TEST(ConditionalParameter, AJobThatResumesNeedsTheSameConditions) {
  JobRecord previous = Tuning(kParams);
  previous.mutable_job()->mutable_end_time()->set_seconds(3);
  JobRecord next = Tuning(std::string(kParams) + " resume_previous_job_id: 'tune'");
  EXPECT_TRUE(CheckResumable(next, previous).has_value());
  next.mutable_job()
      ->mutable_training_input()
      ->mutable_hyperparameters()
      ->mutable_params(1)
      ->mutable_condition()
      ->set_values(0, "adam");
  const Status refused = CheckResumable(next, previous);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("its params are others"));
}

TEST(ConditionalParameter, IsNotInTfConfig) {
  const ml::v1::TrainingInput shown = WithoutOwnFields(Tuning(kParams).job().training_input());
  ASSERT_EQ(shown.hyperparameters().params_size(), 3);
  EXPECT_FALSE(shown.hyperparameters().params(1).has_condition());
}

}  // namespace
}  // namespace trainyard::jobs
