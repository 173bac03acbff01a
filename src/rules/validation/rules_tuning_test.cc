#include <gtest/gtest.h>

#include "rules/jobs/trial.h"
#include "rules/tuning/space.h"
#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

const std::string& TooManyCategories() {
  static const std::string text = [] {
    std::string values = "hyperparameters { params { parameter_name: 'x' type: CATEGORICAL ";
    for (int i = 0; i <= tuning::kValuesMax; ++i)
      values += "categorical_values: '" + std::to_string(i) + "' ";
    return values + "} }";
  }();
  return text;
}

/// That many parameters, each of which but the first depends on the one before it.
template <int kCount>
const char* Chain() {
  static const std::string text = [] {
    std::string params = "hyperparameters { ";
    for (int i = 0; i < kCount; ++i) {
      params +=
          "params { parameter_name: 'p" + std::to_string(i) + "' type: CATEGORICAL categorical_values: 'a' ";
      if (i > 0) params += "condition { parameter_name: 'p" + std::to_string(i - 1) + "' values: 'a' } ";
      params += "} ";
    }
    return params + "}";
  }();
  return text.c_str();
}

const std::string& TooManyMetrics() {
  static const std::string text = [] {
    std::string metrics = "hyperparameters { params { parameter_name: 'x' type: DOUBLE max_value: 1 } ";
    for (int i = 1; i <= kMetricsMax; ++i)
      metrics += "further_metrics { hyperparameter_metric_tag: '" + std::to_string(i) + "' goal: MAXIMIZE } ";
    return metrics + "}";
  }();
  return text;
}

#define PARAM(text) "hyperparameters { params { parameter_name: 'x' " text " } }"
INSTANTIATE_TEST_SUITE_P(
    Tuning, Table,
    testing::Values(
        Row{"double_", kPackage, PARAM("type: DOUBLE max_value: 1"), ""},
        Row{"empty", kPackage, "hyperparameters { }", "hyperparameters.params: "},
        Row{"empty_resuming", kPackage, "hyperparameters { resume_previous_job_id: 'a' }", ""},
        Row{"no_name", kPackage, "hyperparameters { params { type: DOUBLE max_value: 1 } }",
            "hyperparameters.params[0].parameter_name: "},
        Row{"twice", kPackage,
            "hyperparameters { params { parameter_name: 'x' type: DOUBLE max_value: 1 } params { "
            "parameter_name: 'x' type: DOUBLE max_value: 1 } }",
            "hyperparameters.params[1].parameter_name: "},
        Row{"no_type", kPackage, PARAM("max_value: 1"), "hyperparameters.params[0].type: "},
        Row{"no_bounds", kPackage, PARAM("type: DOUBLE"), "hyperparameters.params[0].max_value: "},
        Row{"crossed", kPackage, PARAM("type: DOUBLE min_value: 2 max_value: 1"),
            "hyperparameters.params[0].min_value: "},
        Row{"nan", kPackage, PARAM("type: DOUBLE min_value: nan max_value: 1"),
            "hyperparameters.params[0].min_value: "},
        Row{"inf", kPackage, PARAM("type: DOUBLE max_value: inf"), "hyperparameters.params[0].max_value: "},
        Row{"integer", kPackage, PARAM("type: INTEGER min_value: 1 max_value: 5"), ""},
        Row{"integer_half", kPackage, PARAM("type: INTEGER min_value: 1 max_value: 5.5"),
            "hyperparameters.params[0].max_value: "},
        Row{"log", kPackage, PARAM("type: DOUBLE min_value: 0.1 max_value: 1 scale_type: UNIT_LOG_SCALE"),
            ""},
        Row{"log_zero", kPackage, PARAM("type: DOUBLE max_value: 1 scale_type: UNIT_LOG_SCALE"),
            "hyperparameters.params[0].min_value: "},
        Row{"reverse_log_zero", kPackage,
            PARAM("type: INTEGER max_value: 1 scale_type: UNIT_REVERSE_LOG_SCALE"),
            "hyperparameters.params[0].min_value: "},
        Row{"categorical", kPackage,
            PARAM("type: CATEGORICAL categorical_values: 'a' categorical_values: 'b'"), ""},
        Row{"categorical_empty", kPackage, PARAM("type: CATEGORICAL"),
            "hyperparameters.params[0].categorical_values: "},
        Row{"categorical_twice", kPackage,
            PARAM("type: CATEGORICAL categorical_values: 'a' categorical_values: 'a'"),
            "hyperparameters.params[0].categorical_values: "},
        Row{"categorical_many", kPackage, TooManyCategories().c_str(),
            "hyperparameters.params[0].categorical_values: There must not be more than 1000 values."},
        Row{"categorical_bounds", kPackage, PARAM("type: CATEGORICAL categorical_values: 'a' max_value: 1"),
            "hyperparameters.params[0].max_value: "},
        Row{"categorical_scale", kPackage,
            PARAM("type: CATEGORICAL categorical_values: 'a' scale_type: UNIT_LINEAR_SCALE"),
            "hyperparameters.params[0].scale_type: "},
        Row{"discrete", kPackage, PARAM("type: DISCRETE discrete_values: [1, 2, 4] min_value: 99"), ""},
        Row{"discrete_empty", kPackage, PARAM("type: DISCRETE"),
            "hyperparameters.params[0].discrete_values: "},
        Row{"discrete_order", kPackage, PARAM("type: DISCRETE discrete_values: [4, 1, 2]"), ""},
        Row{"discrete_twice", kPackage, PARAM("type: DISCRETE discrete_values: [1, 2, 1]"),
            "hyperparameters.params[0].discrete_values: The values must be distinct."},
        Row{"discrete_log", kPackage,
            PARAM("type: DISCRETE discrete_values: [1, 0] scale_type: UNIT_LOG_SCALE"),
            "hyperparameters.params[0].discrete_values: "},
        Row{"grid_double", kPackage,
            "hyperparameters { algorithm: GRID_SEARCH params { parameter_name: 'x' type: DOUBLE max_value: 1 "
            "} }",
            "hyperparameters.params[0].type: "},
        Row{"trials", kPackage, "hyperparameters { max_trials: -1 }", "hyperparameters.max_trials: "},
        Row{"parallel", kPackage, "hyperparameters { max_parallel_trials: -1 }",
            "hyperparameters.max_parallel_trials: "},
        Row{"failed", kPackage, "hyperparameters { max_failed_trials: -1 }",
            "hyperparameters.max_failed_trials: "},
        Row{"resume", kPackage,
            "hyperparameters { resume_previous_job_id: '1x' params { parameter_name: 'x' type: DOUBLE "
            "max_value: 1 } }",
            "hyperparameters.resume_previous_job_id: "}),
    RowName);
#undef PARAM

#define PARAMS(parent, condition)                          \
  "hyperparameters { params { parameter_name: 'p' " parent \
  " } params { parameter_name: 'x' type: INTEGER max_value: 9 condition { " condition " } } }"
#define CATEGORIES "type: CATEGORICAL categorical_values: 'a' categorical_values: '1'"
#define NUMBERS "type: DISCRETE discrete_values: [4, 0.5]"
INSTANTIATE_TEST_SUITE_P(
    Conditions, Table,
    testing::Values(
        Row{"categorical", kPackage, PARAMS(CATEGORIES, "parameter_name: 'p' values: '1' values: 'a'"), ""},
        Row{"discrete", kPackage, PARAMS(NUMBERS, "parameter_name: 'p' values: '4' values: '0.5'"), ""},
        Row{"integer", kPackage,
            PARAMS("type: INTEGER min_value: 1 max_value: 5", "parameter_name: 'p' values: '5'"), ""},
        Row{"no_name", kPackage, PARAMS(CATEGORIES, "values: 'a'"),
            "hyperparameters.params[1].condition.parameter_name: This field is required."},
        Row{"no_values", kPackage, PARAMS(CATEGORIES, "parameter_name: 'p'"),
            "hyperparameters.params[1].condition.values: This field is required."},
        Row{"unknown", kPackage, PARAMS(CATEGORIES, "parameter_name: 'q' values: 'a'"),
            "hyperparameters.params[1].condition.parameter_name: There is no parameter 'q' before this one."},
        Row{"itself", kPackage, PARAMS(CATEGORIES, "parameter_name: 'x' values: '1'"),
            "hyperparameters.params[1].condition.parameter_name: There is no parameter 'x' before this one."},
        Row{"later", kPackage,
            "hyperparameters { params { parameter_name: 'x' type: INTEGER max_value: 9 condition { "
            "parameter_name: 'p' values: 'a' } } params { parameter_name: 'p' " CATEGORIES " } }",
            "hyperparameters.params[0].condition.parameter_name: There is no parameter 'p' before this one."},
        Row{"double_", kPackage, PARAMS("type: DOUBLE max_value: 1", "parameter_name: 'p' values: '0.5'"),
            "hyperparameters.params[1].condition.parameter_name: The parameter 'p' is a DOUBLE"},
        Row{"no_category", kPackage, PARAMS(CATEGORIES, "parameter_name: 'p' values: 'a' values: 'b'"),
            "hyperparameters.params[1].condition.values: 'b' is not a value of the parameter 'p'."},
        Row{"no_number", kPackage, PARAMS(NUMBERS, "parameter_name: 'p' values: 'four'"),
            "hyperparameters.params[1].condition.values: 'four' is not"},
        Row{"other_number", kPackage, PARAMS(NUMBERS, "parameter_name: 'p' values: '5'"),
            "hyperparameters.params[1].condition.values: '5' is not"},
        Row{"out_of_range", kPackage,
            PARAMS("type: INTEGER min_value: 1 max_value: 5", "parameter_name: 'p' values: '6'"),
            "hyperparameters.params[1].condition.values: '6' is not"},
        Row{"deep", kPackage, Chain<9>(), ""},
        Row{"too_deep", kPackage, Chain<10>(),
            "hyperparameters.params[9].condition.parameter_name: The parameter 'p8' depends on 8 others, one "
            "upon the next"},
        Row{"far_too_deep", kPackage, Chain<200>(),
            "hyperparameters.params[9].condition.parameter_name: The parameter 'p8' depends on 8 others, one "
            "upon the next"},
        Row{"grid", kPackage,
            PARAMS(CATEGORIES,
                   "parameter_name: 'p' values: 'a'") " hyperparameters { algorithm: GRID_SEARCH }",
            ""}),
    RowName);
#undef NUMBERS
#undef CATEGORIES
#undef PARAMS

#define METRICS(first, second)                                                  \
  "hyperparameters { params { parameter_name: 'x' type: DOUBLE max_value: 1 } " \
  "further_metrics { hyperparameter_metric_tag: " first                         \
  " } further_metrics { hyperparameter_metric_tag: " second " } }"
INSTANTIATE_TEST_SUITE_P(
    Metrics, Table,
    testing::Values(
        Row{"metrics", kPackage, METRICS("'a' goal: MAXIMIZE", "'b' goal: MINIMIZE"), ""},
        Row{"metric_no_tag", kPackage, METRICS("'' goal: MAXIMIZE", "'b' goal: MINIMIZE"),
            "hyperparameters.further_metrics[0].hyperparameter_metric_tag: This field is required."},
        Row{"metric_no_goal", kPackage, METRICS("'a' goal: MAXIMIZE", "'b'"),
            "hyperparameters.further_metrics[1].goal: The goal must be MAXIMIZE or MINIMIZE."},
        Row{"metric_twice", kPackage, METRICS("'a' goal: MAXIMIZE", "'a' goal: MINIMIZE"),
            "hyperparameters.further_metrics[1].hyperparameter_metric_tag: The tag 'a' is used twice."},
        Row{"metric_default_twice", kPackage,
            METRICS("'a' goal: MAXIMIZE", "'training/hptuning/metric' goal: MINIMIZE"),
            "hyperparameters.further_metrics[1].hyperparameter_metric_tag: The tag "
            "'training/hptuning/metric' is used twice."},
        Row{"metric_control", kPackage, METRICS("'a\\n' goal: MAXIMIZE", "'b' goal: MINIMIZE"),
            "hyperparameters.further_metrics[0].hyperparameter_metric_tag: A tag cannot contain"},
        Row{"metrics_many", kPackage, TooManyMetrics().c_str(),
            "hyperparameters.further_metrics: A tuning job has at most 5 metrics"}),
    RowName);
#undef METRICS

}  // namespace
}  // namespace trainyard::jobs
