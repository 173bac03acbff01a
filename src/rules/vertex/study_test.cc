#include "rules/vertex/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "rules/vertex/testing/parse_jobs.h"

namespace trainyard::vertex::study_test {
namespace {

using ::testing::HasSubstr;
using testing::ParseRequest;

constexpr const char* kName = "projects/p/locations/us-central1/studies/9000000000000000001";

/// Each kind of parameter, and one below another.
constexpr const char* kSpec = R"({
  "metrics": [{"metricId": "taste", "goal": "MINIMIZE"}, {"metricId": "cost", "goal": 1}],
  "algorithm": 3,
  "decayCurveStoppingSpec": {"useElapsedDuration": true},
  "parameters": [
    {"parameterId": "celsius", "doubleValueSpec": {"minValue": 120, "maxValue": 260}, "scaleType": "UNIT_LOG_SCALE"},
    {"parameterId": "eggs", "integerValueSpec": {"minValue": 0, "maxValue": 4}},
    {"parameterId": "flour", "discreteValueSpec": {"values": [100, 150.5]}},
    {"parameterId": "topping", "categoricalValueSpec": {"values": ["none", "fruit"]}, "conditionalParameterSpecs": [
      {"parameterSpec": {"parameterId": "sugar", "integerValueSpec": {"minValue": 1, "maxValue": 9}},
       "parentCategoricalValues": {"values": ["fruit"]}}]}]})";

aip::Study Asked(const std::string& spec = kSpec) {
  return ParseRequest<aip::Study>(R"({"displayName": "oven", "studySpec": )" + spec + "}");
}

TEST(MlStudyOf, HasEachPartOfTheSpec) {
  const Result<ml::v1::Study> study = MlStudyOf(Asked());
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_EQ(
      wire::PrintJsonCompact(study->study_config()),
      R"({"algorithm":"RANDOM_SEARCH","automatedStoppingConfig":{"decayCurveStoppingConfig":{"useElapsedTime":true}},)"
      R"("metrics":[{"goal":"MINIMIZE","metric":"taste"},{"goal":"MAXIMIZE","metric":"cost"}],)"
      R"("parameters":[{"doubleValueSpec":{"maxValue":260,"minValue":120},"parameter":"celsius",)"
      R"("scaleType":"UNIT_LOG_SCALE","type":"DOUBLE"},)"
      R"({"integerValueSpec":{"maxValue":"4","minValue":"0"},"parameter":"eggs","type":"INTEGER"},)"
      R"({"discreteValueSpec":{"values":[100,150.5]},"parameter":"flour","type":"DISCRETE"},)"
      R"({"categoricalValueSpec":{"values":["none","fruit"]},"childParameterSpecs":[)"
      R"({"integerValueSpec":{"maxValue":"9","minValue":"1"},"parameter":"sugar",)"
      R"("parentCategoricalValues":{"values":["fruit"]},"type":"INTEGER"}],)"
      R"("parameter":"topping","type":"CATEGORICAL"}]})");
}

TEST(MlStudyOf, SaysEverythingThatIsWrong) {
  aip::Study asked = ParseRequest<aip::Study>(R"({"studySpec": {
      "metrics": [{"metricId": "m", "safetyConfig": {"safetyThreshold": 1}}], "parameters": [{"parameterId": "x"}],
      "convexAutomatedStoppingSpec": {}, "measurementSelectionType": "BEST_MEASUREMENT"}})");
  aip::StudySpec& spec = *asked.mutable_study_spec();
  spec.mutable_study_stopping_config()->mutable_max_num_trials()->set_value(3);
  // As clients over gRPC may send them.
  spec.set_algorithm(static_cast<aip::StudySpec::Algorithm>(7));
  spec.mutable_parameters(0)->set_scale_type(static_cast<aip::StudySpec::ParameterSpec::ScaleType>(9));
  const Result<ml::v1::Study> study = MlStudyOf(asked);
  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().code, Code::kInvalidArgument);
  EXPECT_THAT(study.error().message, ::testing::StartsWith("List of found errors:\t1.Field: display_name; "));
  std::vector<std::string> fields;
  for (const FieldViolation& violation : study.error().violations) fields.push_back(violation.field);
  EXPECT_THAT(fields, ::testing::ElementsAre(
                          "display_name", "study_spec.metrics[0].goal", "study_spec.metrics[0].safety_config",
                          "study_spec.parameters[0]", "study_spec.parameters[0].scale_type",
                          "study_spec.algorithm", "study_spec.convex_automated_stopping_spec",
                          "study_spec.study_stopping_config", "study_spec.measurement_selection_type"));
}

TEST(MlStudyOf, AcceptsWhatHasNoEffect) {
  EXPECT_TRUE(
      MlStudyOf(Asked(R"({"metrics": [{"metricId": "m", "goal": "MAXIMIZE"}], "observationNoise": "HIGH",
      "measurementSelectionType": "LAST_MEASUREMENT",
      "parameters": [{"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1, "defaultValue": 0.5}}]})")));
}

ml::v1::Study Now() {
  ml::v1::Study now = MlStudyOf(Asked()).value();
  now.set_name("projects/p/locations/us-central1/studies/oven");
  now.set_state(ml::v1::Study::COMPLETED);
  now.mutable_create_time()->set_seconds(100);
  return now;
}

TEST(StudyOf, IsTheRequestWithTheState) {
  aip::Study asked = Asked();
  asked.set_state(aip::Study::INACTIVE);
  const aip::Study shown = StudyOf(asked, Now(), kName);
  EXPECT_EQ(shown.name(), kName);
  EXPECT_EQ(shown.display_name(), "oven");
  EXPECT_EQ(shown.state(), aip::Study::COMPLETED);
  EXPECT_EQ(shown.create_time().seconds(), 100);
  EXPECT_EQ(shown.study_spec().SerializeAsString(), Asked().study_spec().SerializeAsString());
}

TEST(StudyOf, DescribesAStudyOfMlV1) {
  const aip::Study shown = StudyOf(Now(), kName);
  EXPECT_EQ(shown.display_name(), "oven");
  EXPECT_EQ(wire::PrintJsonCompact(shown.study_spec()), wire::PrintJsonCompact(Asked().study_spec()));
}

TEST(StudyField, IsThatOfVertex) {
  EXPECT_EQ(StudyField("study_config.parameters[0].parameter"), "study_spec.parameters[0].parameter_id");
  EXPECT_EQ(StudyField("study_config.parameters[0].type"), "study_spec.parameters[0]");
  EXPECT_EQ(
      StudyField("study_config.parameters[1].child_parameter_specs[2].double_value_spec.max_value"),
      "study_spec.parameters[1].conditional_parameter_specs[2].parameter_spec.double_value_spec.max_value");
  EXPECT_EQ(StudyField("study_config.parameters[1].child_parameter_specs[2].parent_int_values"),
            "study_spec.parameters[1].conditional_parameter_specs[2].parent_int_values");
  EXPECT_EQ(StudyField("study_config.metrics[0].metric"), "study_spec.metrics[0].metric_id");
  EXPECT_EQ(StudyField("trial.parameters[0].float_value"), "parameters[0].value");
  EXPECT_EQ(StudyField("trial.parameters"), "parameters");
  EXPECT_EQ(StudyField("measurement.elapsed_time"), "measurement.elapsed_duration");
  EXPECT_EQ(StudyField("client_id"), "client_id");
}

TEST(InStudy, ListsAnInvalidArgumentAndKeepsOtherErrors) {
  const Error invalid = InStudy(InvalidArgument("study_config.metrics", "This field is required."));
  EXPECT_EQ(invalid.message,
            "List of found errors:\t1.Field: study_spec.metrics; Message: This field is required.\t");
  const Error ended = InStudy(FailedPrecondition("The trial is COMPLETED already.", "name"));
  EXPECT_EQ(ended.code, Code::kFailedPrecondition);
  EXPECT_THAT(ended.message, HasSubstr("COMPLETED already"));
}

}  // namespace
}  // namespace trainyard::vertex::study_test
