#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "rules/jobs/job_id.h"
#include "rules/jobs/study.h"
#include "rules/jobs/trial.h"
#include "rules/tuning/space.h"
#include "rules/validation/rules.h"

namespace trainyard::jobs::rules {
namespace {

using ml::v1::HyperparameterSpec;
using ml::v1::ParameterSpec;

bool IsWhole(double value) {
  constexpr double kExactMax = 9007199254740992.0;  // beyond 2^53 doubles skip whole numbers
  return std::abs(value) <= kExactMax && std::trunc(value) == value;
}

bool IsLogScale(const ParameterSpec& param) {
  return param.scale_type() == ParameterSpec::UNIT_LOG_SCALE ||
         param.scale_type() == ParameterSpec::UNIT_REVERSE_LOG_SCALE;
}

/// Whether the name can become the flag --NAME.
bool IsFlagName(const std::string& name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f || c == '=';
  });
}

Status CheckRange(const ParameterSpec& param, const std::string& field) {
  if (!std::isfinite(param.min_value()))
    return Invalid(field + ".min_value", "The value must be a finite number.");
  if (!std::isfinite(param.max_value()))
    return Invalid(field + ".max_value", "The value must be a finite number.");
  if (param.min_value() == 0 && param.max_value() == 0) {  // an absent value reads as zero
    return Invalid(field + ".max_value",
                   "min_value and max_value are required for DOUBLE and INTEGER parameters.");
  }
  if (param.min_value() > param.max_value())
    return Invalid(field + ".min_value", "min_value must not be greater than max_value.");
  if (param.type() == ParameterSpec::INTEGER) {
    if (!IsWhole(param.min_value()))
      return Invalid(field + ".min_value", "The value must be a whole number for INTEGER parameters.");
    if (!IsWhole(param.max_value()))
      return Invalid(field + ".max_value", "The value must be a whole number for INTEGER parameters.");
  }
  if (IsLogScale(param) && param.min_value() <= 0) {
    return Invalid(field + ".min_value", "A logarithmic scale needs a strictly positive range.");
  }
  return {};
}

Status CheckCategories(const ParameterSpec& param, const std::string& field) {
  if (param.min_value() != 0)
    return Invalid(field + ".min_value", "This value should be unset for CATEGORICAL parameters.");
  if (param.max_value() != 0)
    return Invalid(field + ".max_value", "This value should be unset for CATEGORICAL parameters.");
  if (param.scale_type() != ParameterSpec::NONE) {
    return Invalid(field + ".scale_type", "This value should be unset for CATEGORICAL parameters.");
  }
  if (param.categorical_values().empty()) {
    return Invalid(field + ".categorical_values", "This field is required for CATEGORICAL parameters.");
  }
  if (param.categorical_values_size() > tuning::kValuesMax) {
    return Invalid(field + ".categorical_values",
                   "There must not be more than " + std::to_string(tuning::kValuesMax) + " values.");
  }
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (std::ranges::any_of(param.categorical_values(), has_nul)) {
    return Invalid(field + ".categorical_values",
                   "A value cannot contain a NUL character: it becomes an argument.");
  }
  const std::set<std::string_view> distinct(param.categorical_values().begin(),
                                            param.categorical_values().end());
  if (std::ssize(distinct) != param.categorical_values_size()) {
    return Invalid(field + ".categorical_values", "The values must be distinct.");
  }
  return {};
}

Status CheckDiscrete(const ParameterSpec& param, const std::string& field) {
  const std::string values = field + ".discrete_values";
  if (param.discrete_values().empty())
    return Invalid(values, "This field is required for DISCRETE parameters.");
  if (param.discrete_values_size() > tuning::kValuesMax) {
    return Invalid(values, "There must not be more than " + std::to_string(tuning::kValuesMax) + " values.");
  }
  if (!std::ranges::all_of(param.discrete_values(), [](double value) { return std::isfinite(value); }))
    return Invalid(values, "The values must be finite numbers.");
  const std::set<double> distinct(param.discrete_values().begin(), param.discrete_values().end());
  if (std::ssize(distinct) != param.discrete_values_size())
    return Invalid(values, "The values must be distinct.");
  if (IsLogScale(param) && *distinct.begin() <= 0)
    return Invalid(values, "A logarithmic scale needs strictly positive values.");
  return {};
}

Status CheckParameter(const ParameterSpec& param, const std::string& field) {
  if (!IsFlagName(param.parameter_name())) {
    return Invalid(field + ".parameter_name",
                   param.parameter_name().empty()
                       ? "This field is required."
                       : "'" + param.parameter_name() + "' cannot be the name of a flag.");
  }
  switch (param.type()) {
    case ParameterSpec::DOUBLE:
    case ParameterSpec::INTEGER: return CheckRange(param, field);
    case ParameterSpec::CATEGORICAL: return CheckCategories(param, field);
    case ParameterSpec::DISCRETE: return CheckDiscrete(param, field);
    default: return Invalid(field + ".type", "The type of the parameter must be specified.");
  }
}

/// Vertex AI's form of the job has each parameter inside the one that it depends on, three levels of JSON
/// deeper: with more conditions above each other, that form could be neither sent nor printed.
constexpr int kConditionsAboveMax = 8;

/// As for the children of studies: only parameters with single values have some.
/// @param count  the number of parameters before this one
Status CheckCondition(const HyperparameterSpec& spec, int count, const ParameterSpec::Condition& condition,
                      const std::string& field) {
  const std::string& name = condition.parameter_name();
  if (name.empty()) return Invalid(field + ".parameter_name", "This field is required.");
  const auto end = spec.params().begin() + count;
  const auto parent = std::find_if(spec.params().begin(), end, [&name](const ParameterSpec& param) {
    return param.parameter_name() == name;
  });
  if (parent == end)
    return Invalid(field + ".parameter_name", "There is no parameter '" + name + "' before this one.");
  if (parent->type() == ParameterSpec::DOUBLE)
    return Invalid(field + ".parameter_name",
                   "The parameter '" + name +
                       "' is a DOUBLE, which has no single values: a condition needs an INTEGER, "
                       "CATEGORICAL or DISCRETE parameter.");
  const std::string values = field + ".values";
  if (condition.values().empty()) return Invalid(values, "This field is required.");
  if (condition.values_size() > tuning::kValuesMax)
    return Invalid(values, "There must not be more than " + std::to_string(tuning::kValuesMax) + " values.");
  for (const std::string& value : condition.values())
    if (!CoordinateOf(*parent, value))
      return Invalid(values, "'" + value + "' is not a value of the parameter '" + name + "'.");
  return {};
}

bool IsPlain(const std::string& tag) {
  return std::ranges::none_of(tag, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

constexpr const char* kControlCharacters = "A tag cannot contain control characters.";

void CheckFurtherMetrics(const HyperparameterSpec& spec, Violations& found) {
  constexpr const char* kField = "hyperparameters.further_metrics";
  if (spec.further_metrics_size() >= kMetricsMax) {
    Add(Invalid(kField, "A tuning job has at most " + std::to_string(kMetricsMax) +
                            " metrics; this one has " + std::to_string(spec.further_metrics_size() + 1) +
                            "."),
        found);
    return;
  }
  const std::string& first = spec.hyperparameter_metric_tag();
  std::set<std::string_view> tags = {first.empty() ? std::string_view(kMetricTagDefault) : first};
  for (int i = 0; i < spec.further_metrics_size(); ++i) {
    const HyperparameterSpec::FurtherMetric& metric = spec.further_metrics(i);
    const std::string field = kField + ("[" + std::to_string(i)) + "]";
    const std::string& tag = metric.hyperparameter_metric_tag();
    const std::string tag_field = field + ".hyperparameter_metric_tag";
    if (tag.empty())
      Add(Invalid(tag_field, "This field is required."), found);
    else if (!IsPlain(tag))
      Add(Invalid(tag_field, kControlCharacters), found);
    else if (!tags.insert(tag).second)
      Add(Invalid(tag_field, "The tag '" + tag + "' is used twice."), found);
    if (metric.goal() != HyperparameterSpec::MAXIMIZE && metric.goal() != HyperparameterSpec::MINIMIZE)
      Add(Invalid(field + ".goal", "The goal must be MAXIMIZE or MINIMIZE."), found);
  }
}

}  // namespace

Violations TuningSpec(const Job& job, const ValidationContext&) {
  if (!job.training_input().has_hyperparameters()) return {};
  const HyperparameterSpec& spec = job.training_input().hyperparameters();
  Violations found;
  if (spec.max_trials() < 0)
    Add(Invalid("hyperparameters.max_trials", "The value must not be negative."), found);
  if (spec.max_parallel_trials() < 0)
    Add(Invalid("hyperparameters.max_parallel_trials", "The value must not be negative."), found);
  if (spec.max_failed_trials() < 0)
    Add(Invalid("hyperparameters.max_failed_trials", "The value must not be negative."), found);
  // A job that resumes another one inherits unset fields from it (jobs::InheritSpec).
  if (spec.params().empty() && spec.resume_previous_job_id().empty())
    Add(Invalid("hyperparameters.params", "This field is required."), found);
  if (!IsPlain(spec.hyperparameter_metric_tag()))
    Add(Invalid("hyperparameters.hyperparameter_metric_tag", kControlCharacters), found);
  CheckFurtherMetrics(spec, found);
  if (!spec.resume_previous_job_id().empty() && !JobId::Parse(spec.resume_previous_job_id())) {
    Add(Invalid("hyperparameters.resume_previous_job_id",
                "'" + spec.resume_previous_job_id() + "' is not the id of a job."),
        found);
  }
  return found;
}

Violations TuningParameters(const Job& job, const ValidationContext&) {
  const HyperparameterSpec& spec = job.training_input().hyperparameters();
  Violations found;
  std::map<std::string_view, int> above;  // by name: how many it depends on, one upon the other
  for (int i = 0; i < spec.params_size(); ++i) {
    const ParameterSpec& param = spec.params(i);
    const std::string field = "hyperparameters.params[" + std::to_string(i) + "]";
    Add(CheckParameter(param, field), found);
    const auto parent = above.find(param.condition().parameter_name());
    const int conditions = parent == above.end() ? 0 : parent->second + 1;
    if (!param.parameter_name().empty() && !above.emplace(param.parameter_name(), conditions).second) {
      Add(Invalid(field + ".parameter_name", "The name '" + param.parameter_name() + "' is used twice."),
          found);
    }
    if (param.has_condition()) Add(CheckCondition(spec, i, param.condition(), field + ".condition"), found);
    if (conditions == kConditionsAboveMax + 1)  // not for each that depends on this one
      Add(Invalid(field + ".condition.parameter_name",
                  "The parameter '" + param.condition().parameter_name() + "' depends on " +
                      std::to_string(kConditionsAboveMax) +
                      " others, one upon the next: no other parameter can depend on it."),
          found);
    if (spec.algorithm() == HyperparameterSpec::GRID_SEARCH && param.type() == ParameterSpec::DOUBLE) {
      Add(Invalid(field + ".type", "GRID_SEARCH requires INTEGER, CATEGORICAL or DISCRETE parameters."),
          found);
    }
  }
  return found;
}

}  // namespace trainyard::jobs::rules
