#include <gtest/gtest.h>

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

}  // namespace
}  // namespace trainyard::jobs
