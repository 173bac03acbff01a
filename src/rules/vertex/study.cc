#include "rules/vertex/study.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rules/vertex/findings.h"
#include "rules/vertex/renamed_fields.h"

namespace trainyard::vertex {
namespace {

using aip::StudySpec;
using ml::v1::StudyConfig;
using Asked = aip::StudySpec::ParameterSpec;
using Conditional = Asked::ConditionalParameterSpec;
using Spec = ml::v1::StudyConfig::ParameterSpec;

std::string At(const std::string& list, int index) { return list + "[" + std::to_string(index) + "]"; }

// Values of these enumerations have the same names and numbers in both APIs.

void SetMetrics(const StudySpec& asked, StudyConfig& config, Findings& findings) {
  using Metric = StudySpec::MetricSpec;
  for (int i = 0; i < asked.metrics_size(); ++i) {
    const Metric& metric = asked.metrics(i);
    const std::string field = At("study_spec.metrics", i);
    StudyConfig::MetricSpec& made = *config.add_metrics();
    made.set_metric(metric.metric_id());
    if (metric.goal() != Metric::MAXIMIZE && metric.goal() != Metric::MINIMIZE)
      findings.Add(field + ".goal", "The goal must be MAXIMIZE or MINIMIZE.");
    made.set_goal(static_cast<StudyConfig::MetricSpec::GoalType>(metric.goal()));
    if (metric.has_safety_config())
      findings.Add(field + ".safety_config",
                   "Safety metrics are not supported by this server. Leave out this field.");
  }
}

void SetKind(const Asked& asked, const std::string& field, Spec& spec, Findings& findings) {
  switch (asked.parameter_value_spec_case()) {
    case Asked::kDoubleValueSpec:
      spec.set_type(Spec::DOUBLE);
      spec.mutable_double_value_spec()->set_min_value(asked.double_value_spec().min_value());
      spec.mutable_double_value_spec()->set_max_value(asked.double_value_spec().max_value());
      return;
    case Asked::kIntegerValueSpec:
      spec.set_type(Spec::INTEGER);
      spec.mutable_integer_value_spec()->set_min_value(asked.integer_value_spec().min_value());
      spec.mutable_integer_value_spec()->set_max_value(asked.integer_value_spec().max_value());
      return;
    case Asked::kCategoricalValueSpec:
      spec.set_type(Spec::CATEGORICAL);
      *spec.mutable_categorical_value_spec()->mutable_values() = asked.categorical_value_spec().values();
      return;
    case Asked::kDiscreteValueSpec:
      spec.set_type(Spec::DISCRETE);
      *spec.mutable_discrete_value_spec()->mutable_values() = asked.discrete_value_spec().values();
      return;
    case Asked::PARAMETER_VALUE_SPEC_NOT_SET:
      findings.Add(field,
                   "Exactly one of double_value_spec, integer_value_spec, categorical_value_spec and "
                   "discrete_value_spec must be set.");
  }
}

void SetCondition(const Conditional& asked, Spec& child) {
  switch (asked.parent_value_condition_case()) {
    case Conditional::kParentCategoricalValues:
      *child.mutable_parent_categorical_values()->mutable_values() =
          asked.parent_categorical_values().values();
      return;
    case Conditional::kParentDiscreteValues:
      *child.mutable_parent_discrete_values()->mutable_values() = asked.parent_discrete_values().values();
      return;
    case Conditional::kParentIntValues:
      *child.mutable_parent_int_values()->mutable_values() = asked.parent_int_values().values();
      return;
    case Conditional::PARENT_VALUE_CONDITION_NOT_SET: return;  // the rules of studies ask for it
  }
}

void SetParameter(const Asked& asked, const std::string& field, Spec& spec, Findings& findings) {
  spec.set_parameter(asked.parameter_id());
  SetKind(asked, field, spec, findings);
  if (!Asked::ScaleType_IsValid(asked.scale_type()))
    findings.Add(field + ".scale_type", "There is no scale type with the number " +
                                            std::to_string(static_cast<int>(asked.scale_type())) + ".");
  spec.set_scale_type(static_cast<Spec::ScaleType>(asked.scale_type()));
  for (int i = 0; i < asked.conditional_parameter_specs_size(); ++i) {
    const Conditional& conditional = asked.conditional_parameter_specs(i);
    Spec& child = *spec.add_child_parameter_specs();
    SetCondition(conditional, child);
    SetParameter(conditional.parameter_spec(),
                 At(field + ".conditional_parameter_specs", i) + ".parameter_spec", child, findings);
  }
}

void SetStopping(const StudySpec& asked, StudyConfig& config, Findings& findings) {
  switch (asked.automated_stopping_spec_case()) {
    case StudySpec::kDecayCurveStoppingSpec:
      config.mutable_automated_stopping_config()->mutable_decay_curve_stopping_config()->set_use_elapsed_time(
          asked.decay_curve_stopping_spec().use_elapsed_duration());
      break;
    case StudySpec::kMedianAutomatedStoppingSpec:
      config.mutable_automated_stopping_config()
          ->mutable_median_automated_stopping_config()
          ->set_use_elapsed_time(asked.median_automated_stopping_spec().use_elapsed_duration());
      break;
    case StudySpec::kConvexAutomatedStoppingSpec:
      findings.Add("study_spec.convex_automated_stopping_spec",
                   "This server stops trials by decay curves or by the median. Set decay_curve_stopping_spec "
                   "or median_automated_stopping_spec instead.");
      break;
    case StudySpec::AUTOMATED_STOPPING_SPEC_NOT_SET: break;
  }
  if (asked.has_study_stopping_config())
    findings.Add(
        "study_spec.study_stopping_config",
        "This server does not end studies by itself. Leave out this field, and stop asking for trials "
        "when there are enough.");
}

// Back.

void Describe(const Spec& spec, Asked& parameter);

Conditional Describe(const Spec& child) {
  Conditional conditional;
  Describe(child, *conditional.mutable_parameter_spec());
  if (child.has_parent_categorical_values())
    *conditional.mutable_parent_categorical_values()->mutable_values() =
        child.parent_categorical_values().values();
  if (child.has_parent_discrete_values())
    *conditional.mutable_parent_discrete_values()->mutable_values() = child.parent_discrete_values().values();
  if (child.has_parent_int_values())
    *conditional.mutable_parent_int_values()->mutable_values() = child.parent_int_values().values();
  return conditional;
}

void Describe(const Spec& spec, Asked& parameter) {
  parameter.set_parameter_id(spec.parameter());
  parameter.set_scale_type(static_cast<Asked::ScaleType>(spec.scale_type()));
  switch (spec.type()) {
    case Spec::DOUBLE:
      parameter.mutable_double_value_spec()->set_min_value(spec.double_value_spec().min_value());
      parameter.mutable_double_value_spec()->set_max_value(spec.double_value_spec().max_value());
      break;
    case Spec::INTEGER:
      parameter.mutable_integer_value_spec()->set_min_value(spec.integer_value_spec().min_value());
      parameter.mutable_integer_value_spec()->set_max_value(spec.integer_value_spec().max_value());
      break;
    case Spec::CATEGORICAL:
      *parameter.mutable_categorical_value_spec()->mutable_values() = spec.categorical_value_spec().values();
      break;
    case Spec::DISCRETE:
      *parameter.mutable_discrete_value_spec()->mutable_values() = spec.discrete_value_spec().values();
      break;
    default: break;
  }
  for (const Spec& child : spec.child_parameter_specs())
    *parameter.add_conditional_parameter_specs() = Describe(child);
}

StudySpec Describe(const StudyConfig& config) {
  StudySpec study;
  for (const StudyConfig::MetricSpec& metric : config.metrics()) {
    StudySpec::MetricSpec& described = *study.add_metrics();
    described.set_metric_id(metric.metric());
    described.set_goal(metric.goal() == StudyConfig::MetricSpec::MINIMIZE ? StudySpec::MetricSpec::MINIMIZE
                                                                          : StudySpec::MetricSpec::MAXIMIZE);
  }
  for (const Spec& spec : config.parameters()) Describe(spec, *study.add_parameters());
  if (config.algorithm() == StudyConfig::GRID_SEARCH) study.set_algorithm(StudySpec::GRID_SEARCH);
  if (config.algorithm() == StudyConfig::RANDOM_SEARCH) study.set_algorithm(StudySpec::RANDOM_SEARCH);
  const ml::v1::AutomatedStoppingConfig& stopping = config.automated_stopping_config();
  if (stopping.has_decay_curve_stopping_config())
    study.mutable_decay_curve_stopping_spec()->set_use_elapsed_duration(
        stopping.decay_curve_stopping_config().use_elapsed_time());
  if (stopping.has_median_automated_stopping_config())
    study.mutable_median_automated_stopping_spec()->set_use_elapsed_duration(
        stopping.median_automated_stopping_config().use_elapsed_time());
  return study;
}

struct PartName {
  std::string_view ml;
  std::string_view vertex;  ///< empty: the part is left out
};

constexpr std::array<PartName, 12> kPartNames = {{{"study_id", "display_name"},
                                                  {"study_config", "study_spec"},
                                                  {"parameter", "parameter_id"},
                                                  {"metric", "metric_id"},
                                                  {"type", ""},
                                                  {"child_parameter_specs", "conditional_parameter_specs"},
                                                  {"elapsed_time", "elapsed_duration"},
                                                  {"float_value", "value"},
                                                  {"int_value", "value"},
                                                  {"string_value", "value"},
                                                  {"trial", ""},
                                                  {"automated_stopping_config", ""}}};

std::string_view PartNameOf(std::string_view ml) {
  const auto found = std::ranges::find(kPartNames, ml, &PartName::ml);
  return found == kPartNames.end() ? ml : found->vertex;
}

}  // namespace

Result<ml::v1::Study> MlStudyOf(const aip::Study& asked) {
  Findings findings;
  ml::v1::Study study;
  StudyConfig& config = *study.mutable_study_config();
  const StudySpec& spec = asked.study_spec();
  if (asked.display_name().empty()) findings.Add("display_name", "This field is required.");
  SetMetrics(spec, config, findings);
  for (int i = 0; i < spec.parameters_size(); ++i)
    SetParameter(spec.parameters(i), At("study_spec.parameters", i), *config.add_parameters(), findings);
  if (!StudySpec::Algorithm_IsValid(spec.algorithm()))
    findings.Add("study_spec.algorithm", "There is no algorithm with the number " +
                                             std::to_string(static_cast<int>(spec.algorithm())) + ".");
  config.set_algorithm(static_cast<StudyConfig::Algorithm>(spec.algorithm()));
  SetStopping(spec, config, findings);
  if (spec.measurement_selection_type() == StudySpec::BEST_MEASUREMENT)
    findings.Add(
        "study_spec.measurement_selection_type",
        "On this server the result of a trial is its last measurement, or the final measurement that "
        "CompleteTrial names. Leave out this field, and name the best one.");
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());
  return study;
}

aip::Study StudyOf(const aip::Study& asked, const ml::v1::Study& now, std::string name) {
  aip::Study study = asked;
  study.set_name(std::move(name));
  study.set_state(static_cast<aip::Study::State>(now.state()));
  *study.mutable_create_time() = now.create_time();
  study.set_inactive_reason(now.inactive_reason());
  return study;
}

aip::Study StudyOf(const ml::v1::Study& now, std::string name) {
  aip::Study described;
  described.set_display_name(now.name().substr(now.name().rfind('/') + 1));
  *described.mutable_study_spec() = Describe(now.study_config());
  return StudyOf(described, now, std::move(name));
}

std::string StudyField(std::string_view ml_field) {
  std::string field;
  while (!ml_field.empty()) {
    const std::string_view part = ml_field.substr(0, ml_field.find('.'));
    ml_field.remove_prefix(std::min(part.size() + 1, ml_field.size()));
    const std::string_view bare = part.substr(0, part.find('['));
    const std::string_view name = PartNameOf(bare);
    if (name.empty()) continue;
    if (!field.empty()) field += ".";
    field.append(name).append(part.substr(bare.size()));
    // Vertex AI has the condition beside the parameter.
    if (bare == "child_parameter_specs" && !ml_field.starts_with("parent_")) field += ".parameter_spec";
  }
  return field;
}

Error InStudy(Error error) {
  if (error.code == Code::kInvalidArgument && error.violations.empty() && !error.field.empty())
    error.violations.push_back({.field = error.field, .description = error.message});
  return Renamed(std::move(error), StudyField);
}

}  // namespace trainyard::vertex
