#include "stores/studies/study_config.h"
#include "rules/tuning/space.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::studies {
namespace {

using ml::v1::StudyConfig;
using Spec = StudyConfig::ParameterSpec;

constexpr std::int64_t kIntegerMax = 9007199254740992;  // 2^53: beyond it doubles skip whole numbers

std::unexpected<Error> Invalid(const std::string& field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

bool IsLogScale(const Spec& spec) {
  return spec.scale_type() == Spec::UNIT_LOG_SCALE || spec.scale_type() == Spec::UNIT_REVERSE_LOG_SCALE;
}

Status CheckDouble(const Spec& spec, const std::string& field) {
  const std::string range = field + ".double_value_spec";
  if (!spec.has_double_value_spec()) return Invalid(range, "This field is required for DOUBLE parameters.");
  const Spec::DoubleValueSpec& values = spec.double_value_spec();
  if (!values.has_min_value() && !values.has_max_value())
    return Invalid(range + ".max_value", "min_value and max_value are required for DOUBLE parameters.");
  if (!std::isfinite(values.min_value()))
    return Invalid(range + ".min_value", "The value must be a finite number.");
  if (!std::isfinite(values.max_value()) || !std::isfinite(values.max_value() - values.min_value()))
    return Invalid(range + ".max_value", "The value and the range must be finite numbers.");
  if (values.min_value() > values.max_value())
    return Invalid(range + ".min_value", "min_value must not be greater than max_value.");
  if (IsLogScale(spec) && values.min_value() <= 0)
    return Invalid(range + ".min_value", "A logarithmic scale needs a strictly positive range.");
  return {};
}

Status CheckInteger(const Spec& spec, const std::string& field) {
  const std::string range = field + ".integer_value_spec";
  if (!spec.has_integer_value_spec()) return Invalid(range, "This field is required for INTEGER parameters.");
  const Spec::IntegerValueSpec& values = spec.integer_value_spec();
  if (!values.has_min_value() && !values.has_max_value())
    return Invalid(range + ".max_value", "min_value and max_value are required for INTEGER parameters.");
  if (values.min_value() < -kIntegerMax || values.min_value() > kIntegerMax)
    return Invalid(range + ".min_value", "The value must be within 2^53 of zero.");
  if (values.max_value() < -kIntegerMax || values.max_value() > kIntegerMax)
    return Invalid(range + ".max_value", "The value must be within 2^53 of zero.");
  if (values.min_value() > values.max_value())
    return Invalid(range + ".min_value", "min_value must not be greater than max_value.");
  if (IsLogScale(spec) && values.min_value() <= 0)
    return Invalid(range + ".min_value", "A logarithmic scale needs a strictly positive range.");
  return {};
}

Status CheckCategorical(const Spec& spec, const std::string& field) {
  const std::string list = field + ".categorical_value_spec.values";
  if (spec.scale_type() != Spec::SCALE_TYPE_UNSPECIFIED)
    return Invalid(field + ".scale_type", "This value should be unset for CATEGORICAL parameters.");
  const auto& values = spec.categorical_value_spec().values();
  if (values.empty()) return Invalid(list, "This field is required for CATEGORICAL parameters.");
  if (values.size() > tuning::kValuesMax)
    return Invalid(list, "There must not be more than " + std::to_string(tuning::kValuesMax) + " values.");
  const std::set<std::string_view> distinct(values.begin(), values.end());
  if (std::ssize(distinct) != values.size()) return Invalid(list, "The values must be distinct.");
  return {};
}

Status CheckDiscrete(const Spec& spec, const std::string& field) {
  const std::string list = field + ".discrete_value_spec.values";
  const auto& values = spec.discrete_value_spec().values();
  if (values.empty()) return Invalid(list, "This field is required for DISCRETE parameters.");
  if (values.size() > tuning::kValuesMax)
    return Invalid(list, "There must not be more than " + std::to_string(tuning::kValuesMax) + " values.");
  for (int i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return Invalid(list, "The values must be finite numbers.");
    if (i > 0 && values[i] <= values[i - 1])
      return Invalid(list, "The values must be in strictly increasing order.");
  }
  if (IsLogScale(spec) && values[0] <= 0)
    return Invalid(list, "A logarithmic scale needs strictly positive values.");
  return {};
}

Status CheckValues(const Spec& spec, const std::string& field) {
  switch (spec.type()) {
    case Spec::DOUBLE: return CheckDouble(spec, field);
    case Spec::INTEGER: return CheckInteger(spec, field);
    case Spec::CATEGORICAL: return CheckCategorical(spec, field);
    case Spec::DISCRETE: return CheckDiscrete(spec, field);
    default: return Invalid(field + ".type", "The type of the parameter must be specified.");
  }
}

/// The parent's values that activate the child, as coordinates. Empty: the child names no value of its
/// parent's type.
std::vector<double> MatchingValues(const Spec& parent, const Spec& child) {
  std::vector<double> matching;
  if (parent.type() == Spec::CATEGORICAL) {
    const auto& categories = parent.categorical_value_spec().values();
    for (const std::string& value : child.parent_categorical_values().values())
      matching.push_back(static_cast<double>(std::ranges::find(categories, value) - categories.begin()));
  } else if (parent.type() == Spec::DISCRETE) {
    const auto& values = child.parent_discrete_values().values();
    matching.assign(values.begin(), values.end());
  } else if (parent.type() == Spec::INTEGER) {
    for (const std::int64_t value : child.parent_int_values().values())
      matching.push_back(static_cast<double>(value));
  }
  return matching;
}

bool ParentHas(const Spec& parent, double value) {
  if (parent.type() == Spec::CATEGORICAL) return value < parent.categorical_value_spec().values_size();
  if (parent.type() == Spec::INTEGER)
    return value >= static_cast<double>(parent.integer_value_spec().min_value()) &&
           value <= static_cast<double>(parent.integer_value_spec().max_value());
  return std::ranges::find(parent.discrete_value_spec().values(), value) !=
         parent.discrete_value_spec().values().end();
}

std::string_view MatchingField(Spec::ParameterType parent) {
  if (parent == Spec::CATEGORICAL) return "parent_categorical_values";
  return parent == Spec::DISCRETE ? "parent_discrete_values" : "parent_int_values";
}

/// The rules of one configuration's parameters, in their order.
class ParameterRules {
 public:
  explicit ParameterRules(bool grid) : grid_(grid) {}

  Status Check(const Spec& spec, const Spec* parent, const std::string& field) {
    if (++count_ > kParametersMax)
      return Invalid("study_config.parameters",
                     "There must not be more than " + std::to_string(kParametersMax) + " parameters.");
    if (spec.parameter().empty()) return Invalid(field + ".parameter", "This field is required.");
    TY_RETURN_IF_ERROR(CheckValues(spec, field));
    if (grid_ && spec.type() == Spec::DOUBLE)
      return Invalid(field + ".type", "GRID_SEARCH requires INTEGER, CATEGORICAL or DISCRETE parameters.");
    TY_RETURN_IF_ERROR(CheckCondition(spec, parent, field));
    TY_RETURN_IF_ERROR(CheckName(spec, parent, field));
    for (int i = 0; i < spec.child_parameter_specs_size(); ++i)
      TY_RETURN_IF_ERROR(Check(spec.child_parameter_specs(i), &spec,
                               field + ".child_parameter_specs[" + std::to_string(i) + "]"));
    return {};
  }

 private:
  static Status CheckCondition(const Spec& spec, const Spec* parent, const std::string& field) {
    const bool has_condition = spec.parent_value_condition_case() != Spec::PARENT_VALUE_CONDITION_NOT_SET;
    if (parent == nullptr) {
      if (!has_condition) return {};
      return Invalid(field, "A parameter that is nobody's child has no parent's values to match.");
    }
    if (parent->type() == Spec::DOUBLE)
      return Invalid(field, "A DOUBLE parameter has no single values that a child could match.");
    const std::string list = field + "." + std::string(MatchingField(parent->type())) + ".values";
    const std::vector<double> matching = MatchingValues(*parent, spec);
    if (matching.empty())
      return Invalid(list, "This field is required for children of " +
                               Spec::ParameterType_Name(parent->type()) + " parameters.");
    if (!std::ranges::all_of(matching, [&](double value) { return ParentHas(*parent, value); }))
      return Invalid(list, "All values must be values of the parent '" + parent->parameter() + "'.");
    return {};
  }

  /// Names are unique, except for siblings that are never active for the same value of their parent.
  Status CheckName(const Spec& spec, const Spec* parent, const std::string& field) {
    std::vector<double> matching;
    if (parent != nullptr) matching = MatchingValues(*parent, spec);
    const auto [known, is_new] = names_.try_emplace(spec.parameter(), Use{parent, {}});
    const bool siblings = parent != nullptr && known->second.parent == parent;
    const bool apart = std::ranges::none_of(
        matching, [&known](double value) { return known->second.matching.contains(value); });
    if (!is_new && !(siblings && apart))
      return Invalid(field + ".parameter", "The name '" + spec.parameter() + "' is used twice.");
    known->second.matching.insert(matching.begin(), matching.end());
    return {};
  }

  struct Use {
    const Spec* parent;
    std::set<double> matching;
  };
  bool grid_;
  int count_ = 0;
  std::map<std::string, Use> names_;
};

Status CheckMetrics(const StudyConfig& config) {
  if (config.metrics().empty()) return Invalid("study_config.metrics", "This field is required.");
  std::set<std::string_view> names;
  for (int i = 0; i < config.metrics_size(); ++i) {
    const std::string field = "study_config.metrics[" + std::to_string(i) + "].metric";
    const std::string& name = config.metrics(i).metric();
    if (name.empty()) return Invalid(field, "This field is required.");
    if (!names.insert(name).second) return Invalid(field, "The name '" + name + "' is used twice.");
  }
  return {};
}

tuning::Scale ScaleOf(const Spec& spec) {
  if (spec.scale_type() == Spec::UNIT_LOG_SCALE) return tuning::Scale::kLog;
  if (spec.scale_type() == Spec::UNIT_REVERSE_LOG_SCALE) return tuning::Scale::kReverseLog;
  return tuning::Scale::kLinear;
}

tuning::Parameter ParameterOf(const Spec& spec) {
  tuning::Parameter parameter;
  parameter.name = spec.parameter();
  parameter.scale = ScaleOf(spec);
  if (spec.type() == Spec::INTEGER) {
    parameter.type = tuning::Parameter::Type::kInteger;
    parameter.min = static_cast<double>(spec.integer_value_spec().min_value());
    parameter.max = static_cast<double>(spec.integer_value_spec().max_value());
  } else if (spec.type() == Spec::DISCRETE) {
    const auto& values = spec.discrete_value_spec().values();
    parameter.type = tuning::Parameter::Type::kDiscrete;
    parameter.discrete.assign(values.begin(), values.end());
  } else if (spec.type() == Spec::CATEGORICAL) {
    const auto& values = spec.categorical_value_spec().values();
    parameter.type = tuning::Parameter::Type::kCategorical;
    parameter.categories.assign(values.begin(), values.end());
  } else {
    parameter.min = spec.double_value_spec().min_value();
    parameter.max = spec.double_value_spec().max_value();
  }
  return parameter;
}

void AddTo(tuning::Space& space, const Spec& spec, const Spec* parent, int parent_index) {
  const int index = static_cast<int>(space.parameters.size());
  space.parameters.push_back(ParameterOf(spec));
  if (parent != nullptr)
    space.parameters.back().condition =
        tuning::Parameter::Condition{.parent = parent_index, .values = MatchingValues(*parent, spec)};
  for (const Spec& child : spec.child_parameter_specs()) AddTo(space, child, &spec, index);
}

tuning::Algorithm AlgorithmOf(StudyConfig::Algorithm algorithm) {
  if (algorithm == StudyConfig::GRID_SEARCH) return tuning::Algorithm::kGrid;
  if (algorithm == StudyConfig::RANDOM_SEARCH) return tuning::Algorithm::kRandom;
  return tuning::Algorithm::kDefault;
}

}  // namespace

Status ValidateStudyId(std::string_view id) {
  constexpr std::string_view kField = "study_id";
  const auto letter_or_digit = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9');
  };
  if (id.empty()) return Invalid(std::string(kField), "This field is required.");
  if (id.size() > kStudyIdLengthMax)
    return Invalid(std::string(kField),
                   "An id should not be longer than " + std::to_string(kStudyIdLengthMax) + " characters.");
  const bool good = letter_or_digit(id.front()) && std::ranges::all_of(id, [&](char c) {
                      return letter_or_digit(c) || c == '_' || c == '-' || c == '.';
                    });
  if (!good)
    return Invalid(std::string(kField),
                   "An id should start with a letter or a number and contain only letters, numbers, "
                   "underscores, dashes and dots.");
  return {};
}

Status ValidateConfig(const StudyConfig& config) {
  TY_RETURN_IF_ERROR(CheckMetrics(config));
  if (config.parameters().empty()) return Invalid("study_config.parameters", "This field is required.");
  ParameterRules rules(config.algorithm() == StudyConfig::GRID_SEARCH);
  for (int i = 0; i < config.parameters_size(); ++i)
    TY_RETURN_IF_ERROR(
        rules.Check(config.parameters(i), nullptr, "study_config.parameters[" + std::to_string(i) + "]"));
  return {};
}

tuning::StudySpec SpecOf(const StudyConfig& config, std::uint64_t seed) {
  tuning::StudySpec spec;
  for (const Spec& parameter : config.parameters()) AddTo(spec.space, parameter, nullptr, 0);
  for (const StudyConfig::MetricSpec& metric : config.metrics())
    spec.metrics.push_back(
        {.name = metric.metric(), .maximize = metric.goal() != StudyConfig::MetricSpec::MINIMIZE});
  spec.algorithm = AlgorithmOf(config.algorithm());
  spec.seed = seed;
  return spec;
}

}  // namespace trainyard::studies
