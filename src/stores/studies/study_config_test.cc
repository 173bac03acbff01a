#include "stores/studies/study_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "rules/tuning/space.h"

namespace trainyard::studies {
namespace {

using testing::ElementsAre;

/// A study of one metric with these parameters, in JSON.
ml::v1::StudyConfig Config(const std::string& parameters, const std::string& more = {}) {
  ml::v1::StudyConfig config;
  const Status read =
      wire::ParseJson(R"({"metrics": [{"goal": "MINIMIZE", "metric": "loss"}], "parameters": [)" +
                          parameters + "]" + more + "}",
                      config);
  EXPECT_TRUE(read) << read.error().message;
  return config;
}

constexpr char kX[] =
    R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": -1, "maxValue": 2}})";
constexpr char kModel[] = R"({"parameter": "model", "type": "CATEGORICAL",
    "categoricalValueSpec": {"values": ["linear", "deep"]}, "childParameterSpecs": [
    {"parameter": "layers", "type": "INTEGER", "integerValueSpec": {"minValue": 1, "maxValue": 4},
     "parentCategoricalValues": {"values": ["deep"]}, "childParameterSpecs": [
      {"parameter": "dropout", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 0.5},
       "parentIntValues": {"values": [3, 4]}}]},
    {"parameter": "rate", "type": "DISCRETE", "discreteValueSpec": {"values": [0.1, 1]},
     "scaleType": "UNIT_LOG_SCALE", "parentCategoricalValues": {"values": ["linear"]}},
    {"parameter": "rate", "type": "DOUBLE", "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1},
     "scaleType": "UNIT_REVERSE_LOG_SCALE", "parentCategoricalValues": {"values": ["deep"]}}]})";

TEST(StudyConfig, BecomesASpaceWithParentsBeforeChildren) {
  const ml::v1::StudyConfig config =
      Config(std::string(kX) + "," + kModel, R"(, "algorithm": "RANDOM_SEARCH")");
  ASSERT_TRUE(ValidateConfig(config)) << ValidateConfig(config).error().message;
  const tuning::StudySpec spec = SpecOf(config, 7);
  using Type = tuning::Parameter::Type;
  EXPECT_EQ(spec.seed, 7U);
  EXPECT_EQ(spec.algorithm, tuning::Algorithm::kRandom);
  ASSERT_EQ(spec.metrics.size(), 1U);
  EXPECT_EQ(spec.metrics[0].name, "loss");
  EXPECT_FALSE(spec.metrics[0].maximize);
  const auto& parameters = spec.space.parameters;
  ASSERT_EQ(parameters.size(), 6U);
  EXPECT_EQ(parameters[0].name, "x");
  EXPECT_EQ(parameters[0].min, -1);
  EXPECT_EQ(parameters[0].max, 2);
  EXPECT_FALSE(parameters[0].condition);
  EXPECT_THAT(parameters[1].categories, ElementsAre("linear", "deep"));
  EXPECT_EQ(parameters[2].type, Type::kInteger);
  EXPECT_EQ(parameters[2].condition->parent, 1);
  EXPECT_THAT(parameters[2].condition->values, ElementsAre(1));
  EXPECT_EQ(parameters[3].name, "dropout");
  EXPECT_EQ(parameters[3].min, 0) << "absent beside a maximum: zero";
  EXPECT_EQ(parameters[3].condition->parent, 2);
  EXPECT_THAT(parameters[3].condition->values, ElementsAre(3, 4));
  EXPECT_EQ(parameters[4].scale, tuning::Scale::kLog);
  EXPECT_THAT(parameters[4].discrete, ElementsAre(0.1, 1));
  EXPECT_THAT(parameters[4].condition->values, ElementsAre(0));
  EXPECT_EQ(parameters[5].scale, tuning::Scale::kReverseLog);
  EXPECT_EQ(parameters[5].name, "rate") << "the same name for another value of the parent";
}

TEST(StudyConfig, MaximizesUnlessToldOtherwise) {
  ml::v1::StudyConfig config = Config(kX);
  config.mutable_metrics(0)->clear_goal();
  EXPECT_TRUE(SpecOf(config, 0).metrics[0].maximize);
}

TEST(StudyConfig, NeedsMetricsAndParameters) {
  ml::v1::StudyConfig config = Config(kX);
  config.clear_parameters();
  EXPECT_EQ(ValidateConfig(config).error(),
            InvalidArgument("study_config.parameters", "This field is required."));
  config = Config(kX);
  config.add_metrics()->set_metric("loss");
  EXPECT_EQ(ValidateConfig(config).error(),
            InvalidArgument("study_config.metrics[1].metric", "The name 'loss' is used twice."));
  config.mutable_metrics(1)->clear_metric();
  EXPECT_EQ(ValidateConfig(config).error(),
            InvalidArgument("study_config.metrics[1].metric", "This field is required."));
  config.clear_metrics();
  EXPECT_EQ(ValidateConfig(config).error(),
            InvalidArgument("study_config.metrics", "This field is required."));
}

TEST(StudyConfig, HasALimitForTheValuesOfAParameter) {
  for (const bool categorical : {false, true}) {
    std::string values;
    for (int i = 0; i < tuning::kValuesMax; ++i) {
      const std::string number = std::to_string(i);
      values += (i == 0 ? "" : ", ") + (categorical ? '"' + number + '"' : number);
    }
    const std::string kind = categorical ? "categorical" : "discrete";
    const auto with = [&](const std::string& more) {
      return ValidateConfig(Config(R"({"parameter": "x", "type": ")" +
                                   std::string(categorical ? "CATEGORICAL" : "DISCRETE") + R"(", ")" + kind +
                                   R"(ValueSpec": {"values": [)" + values + more + "]}}"));
    };
    EXPECT_TRUE(with(""));
    EXPECT_EQ(with(categorical ? R"(, "one more")" : ", 1e9").error(),
              InvalidArgument("study_config.parameters[0]." + kind + "_value_spec.values",
                              "There must not be more than 1000 values."));
  }
}

struct Row {
  const char* name;
  const char* parameters;
  const char* field;    ///< below study_config.parameters
  const char* message;  ///< its beginning
  const char* more = "";
};
class Refused : public testing::TestWithParam<Row> {};

TEST_P(Refused, NamesTheField) {
  const Status checked = ValidateConfig(Config(GetParam().parameters, GetParam().more));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kInvalidArgument);
  EXPECT_EQ(checked.error().field, std::string("study_config.parameters") + GetParam().field);
  EXPECT_THAT(checked.error().message, testing::StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, Refused,
    testing::Values(
        Row{"no_name", R"({"type": "DOUBLE"})", "[0].parameter", "This field is required."},
        Row{"no_type", R"({"parameter": "x"})", "[0].type", "The type of the parameter must be specified."},
        Row{"no_range", R"({"parameter": "x", "type": "DOUBLE"})", "[0].double_value_spec",
            "This field is required for DOUBLE parameters."},
        Row{"another_types_range",
            R"({"parameter": "x", "type": "INTEGER", "doubleValueSpec": {"maxValue": 1}})",
            "[0].integer_value_spec", "This field is required for INTEGER parameters."},
        Row{"empty_range", R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {}})",
            "[0].double_value_spec.max_value", "min_value and max_value are required"},
        Row{"upside_down",
            R"({"parameter": "x", "type": "INTEGER", "integerValueSpec": {"minValue": 3, "maxValue": 2}})",
            "[0].integer_value_spec.min_value", "min_value must not be greater than max_value."},
        Row{"infinite",
            R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": "Infinity"}})",
            "[0].double_value_spec.max_value", "The value and the range must be finite"},
        Row{"infinitely_wide",
            R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"minValue": -1e308, "maxValue": 1e308}})",
            "[0].double_value_spec.max_value", "The value and the range must be finite"},
        Row{"beyond_doubles",
            R"({"parameter": "x", "type": "INTEGER", "integerValueSpec": {"maxValue": "9007199254740993"}})",
            "[0].integer_value_spec.max_value", "The value must be within 2^53 of zero."},
        Row{"log_of_zero",
            R"({"parameter": "x", "type": "DOUBLE", "scaleType": "UNIT_LOG_SCALE", "doubleValueSpec": {"minValue": 0, "maxValue": 1}})",
            "[0].double_value_spec.min_value", "A logarithmic scale needs a strictly positive range."},
        Row{"categories_have_no_scale",
            R"({"parameter": "x", "type": "CATEGORICAL", "scaleType": "UNIT_LINEAR_SCALE", "categoricalValueSpec": {"values": ["a"]}})",
            "[0].scale_type", "This value should be unset for CATEGORICAL parameters."},
        Row{"no_categories", R"({"parameter": "x", "type": "CATEGORICAL"})",
            "[0].categorical_value_spec.values", "This field is required for CATEGORICAL"},
        Row{"category_twice",
            R"({"parameter": "x", "type": "CATEGORICAL", "categoricalValueSpec": {"values": ["a", "a"]}})",
            "[0].categorical_value_spec.values", "The values must be distinct."},
        Row{"not_increasing",
            R"({"parameter": "x", "type": "DISCRETE", "discreteValueSpec": {"values": [2, 1]}})",
            "[0].discrete_value_spec.values", "The values must be in strictly increasing order."},
        Row{"grid_of_doubles", R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}})",
            "[0].type", "GRID_SEARCH requires INTEGER, CATEGORICAL or DISCRETE parameters.",
            R"(, "algorithm": "GRID_SEARCH")"},
        Row{"name_twice",
            R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}}, {"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}})",
            "[1].parameter", "The name 'x' is used twice."},
        Row{"condition_without_a_parent",
            R"({"parameter": "x", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}, "parentIntValues": {"values": [1]}})",
            "[0]", "A parameter that is nobody's child"}),
    [](const auto& row) { return row.param.name; });

/// A child of an INTEGER parameter from 1 to 3.
#define CHILD(text)                                                                              \
  R"({"parameter": "n", "type": "INTEGER", "integerValueSpec": {"minValue": 1, "maxValue": 3},)" \
  R"("childParameterSpecs": [)" text "]}"
#define LEAF R"("type": "DOUBLE", "doubleValueSpec": {"maxValue": 1})"

INSTANTIATE_TEST_SUITE_P(
    Children, Refused,
    testing::Values(
        Row{"no_condition", CHILD(R"({"parameter": "x", )" LEAF "}"),
            "[0].child_parameter_specs[0].parent_int_values.values",
            "This field is required for children of "
            "INTEGER parameters."},
        Row{"condition_of_another_type",
            CHILD(R"({"parameter": "x", "parentCategoricalValues": {"values": ["1"]}, )" LEAF "}"),
            "[0].child_parameter_specs[0].parent_int_values.values", "This field is required"},
        Row{"value_that_the_parent_has_not",
            CHILD(R"({"parameter": "x", "parentIntValues": {"values": [4]}, )" LEAF "}"),
            "[0].child_parameter_specs[0].parent_int_values.values",
            "All values must be values of the parent 'n'."},
        Row{"siblings_that_overlap",
            CHILD(R"({"parameter": "x", "parentIntValues": {"values": [1, 2]}, )" LEAF
                  R"(}, {"parameter": "x", "parentIntValues": {"values": [2]}, )" LEAF "}"),
            "[0].child_parameter_specs[1].parameter", "The name 'x' is used twice."},
        Row{"named_as_its_parent",
            CHILD(R"({"parameter": "n", "parentIntValues": {"values": [1]}, )" LEAF "}"),
            "[0].child_parameter_specs[0].parameter", "The name 'n' is used twice."},
        Row{"child_of_a_double",
            R"({"parameter": "d", "type": "DOUBLE", "doubleValueSpec": {"maxValue": 1}, "childParameterSpecs": [{"parameter": "x", "parentIntValues": {"values": [1]}, )" LEAF
            "}]}",
            "[0].child_parameter_specs[0]", "A DOUBLE parameter has no single values"}),
    [](const auto& row) { return row.param.name; });

TEST(StudyId, IsWhatAPathCanHave) {
  EXPECT_TRUE(ValidateStudyId("CloudTuner_study_20210202_101112"));
  EXPECT_TRUE(ValidateStudyId("1-a.b"));
  for (const char* id : {"_a", "a/b", "a:b", "a b", "\xc3\xa4"}) {
    ASSERT_FALSE(ValidateStudyId(id)) << id;
    EXPECT_EQ(ValidateStudyId(id).error().field, "study_id");
  }
  EXPECT_EQ(ValidateStudyId("").error(), InvalidArgument("study_id", "This field is required."));
  EXPECT_FALSE(ValidateStudyId(std::string(129, 'a')));
}

}  // namespace
}  // namespace trainyard::studies
