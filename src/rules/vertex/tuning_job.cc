#include "rules/vertex/tuning_job.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/number.h"
#include "rules/tuning/space.h"
#include "rules/vertex/error_fields.h"
#include "rules/vertex/findings.h"
#include "rules/vertex/renamed_fields.h"

namespace trainyard::vertex {
namespace {

using aip::StudySpec;
using ml::v1::HyperparameterSpec;
using Parameter = aip::StudySpec::ParameterSpec;
using Conditional = Parameter::ConditionalParameterSpec;

constexpr const char* kRequired = "This field is required.";

std::string TrialField(std::string_view field) {
  return (field.starts_with("job_spec") ? "trial_" : "") + std::string(field);
}

/// A custom job with what each trial runs, under the tuning job's own name and labels.
aip::CustomJob TrialJobOf(const aip::HyperparameterTuningJob& asked) {
  aip::CustomJob job;
  job.set_display_name(asked.display_name());
  *job.mutable_labels() = asked.labels();
  *job.mutable_job_spec() = asked.trial_job_spec();
  if (asked.has_encryption_spec()) *job.mutable_encryption_spec() = asked.encryption_spec();
  return job;
}

/// Mistakes and what has no effect, while a study becomes the hyperparameters of a job.
struct Notes {
  Findings findings;
  std::vector<std::string> remarks;

  void AddUnused(bool is_set, const std::string& field) {
    if (is_set) remarks.push_back(field + " has no effect on this server.");
  }
};

void SetCounts(const aip::HyperparameterTuningJob& asked, HyperparameterSpec& spec, Notes& notes) {
  const auto positive = [&](int count, const char* field) {
    if (count < 1)
      notes.findings.Add(field, count == 0 ? std::string(kRequired) : "The count must be at least 1.");
  };
  positive(asked.max_trial_count(), "max_trial_count");
  positive(asked.parallel_trial_count(), "parallel_trial_count");
  if (asked.max_failed_trial_count() < 0)
    notes.findings.Add("max_failed_trial_count", "The count must not be negative.");
  spec.set_max_trials(asked.max_trial_count());
  spec.set_max_parallel_trials(asked.parallel_trial_count());
  spec.set_max_failed_trials(asked.max_failed_trial_count());
}

/// @param field   the metric's path
/// @param metric  spec itself for the first one, else one of its further metrics
template <class Metric>
void SetMetric(const StudySpec::MetricSpec& asked, const std::string& field, Metric& metric, Notes& notes) {
  if (asked.metric_id().empty()) notes.findings.Add(field + ".metric_id", kRequired);
  if (asked.has_safety_config())
    notes.findings.Add(field + ".safety_config",
                       "Safety metrics are not supported by this server. Leave out this field.");
  metric.set_hyperparameter_metric_tag(asked.metric_id());
  switch (asked.goal()) {
    case StudySpec::MetricSpec::MAXIMIZE: metric.set_goal(HyperparameterSpec::MAXIMIZE); break;
    case StudySpec::MetricSpec::MINIMIZE: metric.set_goal(HyperparameterSpec::MINIMIZE); break;
    default: notes.findings.Add(field + ".goal", "The goal must be MAXIMIZE or MINIMIZE.");
  }
}

void SetMetrics(const StudySpec& study, HyperparameterSpec& spec, Notes& notes) {
  if (study.metrics().empty()) return notes.findings.Add("study_spec.metrics", kRequired);
  for (int i = 0; i < study.metrics_size(); ++i) {
    const std::string field = "study_spec.metrics[" + std::to_string(i) + "]";
    if (i == 0)
      SetMetric(study.metrics(i), field, spec, notes);
    else
      SetMetric(study.metrics(i), field, *spec.add_further_metrics(), notes);
  }
}

template <class Range>
void SetRange(const Range& range, ml::v1::ParameterSpec& param) {
  param.set_min_value(static_cast<double>(range.min_value()));
  param.set_max_value(static_cast<double>(range.max_value()));
}

/// @param field  the parameter's path
void SetKind(const Parameter& asked, const std::string& field, ml::v1::ParameterSpec& param, Notes& notes) {
  switch (asked.parameter_value_spec_case()) {
    case Parameter::kDoubleValueSpec:
      param.set_type(ml::v1::ParameterSpec::DOUBLE);
      SetRange(asked.double_value_spec(), param);
      return notes.AddUnused(asked.double_value_spec().has_default_value(),
                             field + ".double_value_spec.default_value");
    case Parameter::kIntegerValueSpec:
      param.set_type(ml::v1::ParameterSpec::INTEGER);
      SetRange(asked.integer_value_spec(), param);
      return notes.AddUnused(asked.integer_value_spec().has_default_value(),
                             field + ".integer_value_spec.default_value");
    case Parameter::kCategoricalValueSpec:
      param.set_type(ml::v1::ParameterSpec::CATEGORICAL);
      *param.mutable_categorical_values() = asked.categorical_value_spec().values();
      return notes.AddUnused(asked.categorical_value_spec().has_default_value(),
                             field + ".categorical_value_spec.default_value");
    case Parameter::kDiscreteValueSpec:
      param.set_type(ml::v1::ParameterSpec::DISCRETE);
      *param.mutable_discrete_values() = asked.discrete_value_spec().values();
      return notes.AddUnused(asked.discrete_value_spec().has_default_value(),
                             field + ".discrete_value_spec.default_value");
    case Parameter::PARAMETER_VALUE_SPEC_NOT_SET:
      notes.findings.Add(field,
                         "Exactly one of double_value_spec, integer_value_spec, categorical_value_spec and "
                         "discrete_value_spec must be set.");
  }
}

std::string_view ConditionField(Conditional::ParentValueConditionCase condition) {
  switch (condition) {
    case Conditional::kParentDiscreteValues: return "parent_discrete_values";
    case Conditional::kParentIntValues: return "parent_int_values";
    case Conditional::kParentCategoricalValues: return "parent_categorical_values";
    case Conditional::PARENT_VALUE_CONDITION_NOT_SET: return {};
  }
  return {};
}

/// The kind of condition for children of the parameter; not set: it has none.
Conditional::ParentValueConditionCase ConditionOn(const ml::v1::ParameterSpec& parent) {
  switch (parent.type()) {
    case ml::v1::ParameterSpec::DISCRETE: return Conditional::kParentDiscreteValues;
    case ml::v1::ParameterSpec::INTEGER: return Conditional::kParentIntValues;
    case ml::v1::ParameterSpec::CATEGORICAL: return Conditional::kParentCategoricalValues;
    default: return Conditional::PARENT_VALUE_CONDITION_NOT_SET;
  }
}

/// Values become the texts that the command line shows.
void SetCondition(const Conditional& asked, const ml::v1::ParameterSpec& parent,
                  ml::v1::ParameterSpec::Condition& condition) {
  const tuning::Parameter discrete{
      .type = tuning::Parameter::Type::kDiscrete, .discrete = {}, .categories = {}};
  condition.set_parameter_name(parent.parameter_name());
  for (const double value : asked.parent_discrete_values().values())
    condition.add_values(tuning::ValueText(discrete, value));
  for (const std::int64_t value : asked.parent_int_values().values())
    condition.add_values(std::to_string(value));
  for (const std::string& value : asked.parent_categorical_values().values()) condition.add_values(value);
}

void AddParameter(const Parameter& asked, const std::string& field, HyperparameterSpec& spec, Notes& notes);

/// Adds the parameter's children right behind it, each with its own (PlaceOf relies on this order).
void AddConditionals(const Parameter& asked, const std::string& field, int parent, HyperparameterSpec& spec,
                     Notes& notes) {
  const auto needed = ConditionOn(spec.params(parent));
  for (int i = 0; i < asked.conditional_parameter_specs_size(); ++i) {
    const Conditional& conditional = asked.conditional_parameter_specs(i);
    const std::string path = field + ".conditional_parameter_specs[" + std::to_string(i) + "]";
    const int child = spec.params_size();
    AddParameter(conditional.parameter_spec(), path + ".parameter_spec", spec, notes);
    SetCondition(conditional, spec.params(parent), *spec.mutable_params(child)->mutable_condition());
    const std::string type = ml::v1::ParameterSpec::Type_Name(spec.params(parent).type());
    if (spec.params(parent).type() == ml::v1::ParameterSpec::DOUBLE)
      notes.findings.Add(path,
                         "A parameter with double_value_spec has no single values that another one could "
                         "depend on.");
    else if (conditional.parent_value_condition_case() != needed && !ConditionField(needed).empty())
      notes.findings.Add(path + "." + std::string(ConditionField(needed)),
                         "This field is required: the parameter depends on one of the type " + type + ".");
  }
}

void AddParameter(const Parameter& asked, const std::string& field, HyperparameterSpec& spec, Notes& notes) {
  const int index = spec.params_size();
  ml::v1::ParameterSpec& param = *spec.add_params();
  if (asked.parameter_id().empty()) notes.findings.Add(field + ".parameter_id", kRequired);
  param.set_parameter_name(asked.parameter_id());
  SetKind(asked, field, param, notes);
  switch (asked.scale_type()) {
    case Parameter::SCALE_TYPE_UNSPECIFIED: break;
    case Parameter::UNIT_LINEAR_SCALE: param.set_scale_type(ml::v1::ParameterSpec::UNIT_LINEAR_SCALE); break;
    case Parameter::UNIT_LOG_SCALE: param.set_scale_type(ml::v1::ParameterSpec::UNIT_LOG_SCALE); break;
    case Parameter::UNIT_REVERSE_LOG_SCALE:
      param.set_scale_type(ml::v1::ParameterSpec::UNIT_REVERSE_LOG_SCALE);
      break;
    default:
      notes.findings.Add(field + ".scale_type", "There is no scale type with the number " +
                                                    std::to_string(static_cast<int>(asked.scale_type())) +
                                                    ".");
  }
  AddConditionals(asked, field, index, spec, notes);
}

void SetAlgorithm(const StudySpec& study, HyperparameterSpec& spec, Notes& notes) {
  switch (study.algorithm()) {
    case StudySpec::ALGORITHM_UNSPECIFIED: break;
    case StudySpec::GRID_SEARCH: spec.set_algorithm(HyperparameterSpec::GRID_SEARCH); break;
    case StudySpec::RANDOM_SEARCH: spec.set_algorithm(HyperparameterSpec::RANDOM_SEARCH); break;
    default:
      notes.findings.Add("study_spec.algorithm", "There is no algorithm with the number " +
                                                     std::to_string(static_cast<int>(study.algorithm())) +
                                                     ".");
  }
}

void SetStopping(const StudySpec& study, HyperparameterSpec& spec, Notes& notes) {
  std::string member;
  switch (study.automated_stopping_spec_case()) {
    case StudySpec::kDecayCurveStoppingSpec: member = "decay_curve_stopping_spec"; break;
    case StudySpec::kMedianAutomatedStoppingSpec: member = "median_automated_stopping_spec"; break;
    case StudySpec::kConvexAutomatedStoppingSpec: member = "convex_automated_stopping_spec"; break;
    case StudySpec::AUTOMATED_STOPPING_SPEC_NOT_SET: return;
  }
  if (study.metrics_size() > 1) {
    notes.remarks.push_back("study_spec." + member +
                            " has no effect with several metrics: no trial is stopped early.");
    return;
  }
  spec.set_enable_trial_early_stopping(true);
  notes.remarks.push_back("study_spec." + member +
                          " turns on early stopping; which trials it stops is decided by this server's own "
                          "rule, and the settings in this field have no effect.");
}

void AddRemarks(const StudySpec& study, Notes& notes) {
  if (study.measurement_selection_type() == StudySpec::BEST_MEASUREMENT)
    notes.remarks.emplace_back(
        "study_spec.measurement_selection_type BEST_MEASUREMENT has no effect on this server: the last "
        "measurement of a trial is its result.");
  notes.AddUnused(study.observation_noise() != StudySpec::OBSERVATION_NOISE_UNSPECIFIED,
                  "study_spec.observation_noise");
  notes.AddUnused(study.has_study_stopping_config(), "study_spec.study_stopping_config");
}

HyperparameterSpec HyperparametersOf(const aip::HyperparameterTuningJob& asked, Notes& notes) {
  const StudySpec& study = asked.study_spec();
  HyperparameterSpec spec;
  SetCounts(asked, spec, notes);
  SetMetrics(study, spec, notes);
  if (study.parameters().empty()) notes.findings.Add("study_spec.parameters", kRequired);
  for (int i = 0; i < study.parameters_size(); ++i)
    AddParameter(study.parameters(i), "study_spec.parameters[" + std::to_string(i) + "]", spec, notes);
  SetAlgorithm(study, spec, notes);
  SetStopping(study, spec, notes);
  AddRemarks(study, notes);
  return spec;
}

/// A parameter's path in the request.
struct ParameterPlace {
  std::string path;
  const Conditional* conditional = nullptr;  ///< null: it depends on no other
};

/// The parameter that is `number` places behind this one, among it and its children, in AddParameter's order.
/// Takes what it counted from `number`. nullopt: there are not so many.
std::optional<ParameterPlace> PlaceOf(const Parameter& parameter, ParameterPlace place, int& number) {
  if (number-- == 0) return place;
  for (int i = 0; i < parameter.conditional_parameter_specs_size(); ++i) {
    const Conditional& child = parameter.conditional_parameter_specs(i);
    ParameterPlace below{
        .path = place.path + ".conditional_parameter_specs[" + std::to_string(i) + "].parameter_spec",
        .conditional = &child};
    if (auto found = PlaceOf(child.parameter_spec(), std::move(below), number)) return found;
  }
  return std::nullopt;
}

/// The place of the parameter with that index in HyperparameterSpec.params.
ParameterPlace PlaceOf(const StudySpec& study, std::string_view index) {
  if (int number = WholeNumber<int>(index).value_or(-1); number >= 0) {
    for (int i = 0; i < study.parameters_size(); ++i) {
      ParameterPlace place{.path = "study_spec.parameters[" + std::to_string(i) + "]"};
      if (auto found = PlaceOf(study.parameters(i), std::move(place), number)) return *std::move(found);
    }
  }
  return {.path = "study_spec.parameters[" + std::string(index) + "]"};
}

/// @param rest  behind the index: ".scale_type"
std::string ParameterField(const ParameterPlace& place, std::string_view rest) {
  constexpr std::string_view kSpec = ".parameter_spec";
  if (rest == ".parameter_name") return place.path + ".parameter_id";
  if (rest == ".scale_type") return place.path + ".scale_type";
  if (!rest.starts_with(".condition") || place.conditional == nullptr) return place.path;
  const std::string_view condition = ConditionField(place.conditional->parent_value_condition_case());
  const std::string path = place.path.substr(0, place.path.size() - kSpec.size());
  return condition.empty() ? path : path + "." + std::string(condition) + ".values";
}

/// @param further  behind "further_metrics[": "0].goal"
std::string MetricField(std::string_view further) {
  const std::size_t end = std::min(further.find(']'), further.size());
  const int number = WholeNumber<int>(further.substr(0, end)).value_or(0);
  return "study_spec.metrics[" + std::to_string(number + 1) + "]" +
         (further.ends_with(".goal") ? ".goal" : ".metric_id");
}

struct StudyFieldName {
  std::string_view ml;
  std::string_view vertex;
};

constexpr std::array<StudyFieldName, 8> kOfStudy = {
    {{"hyperparameters", "study_spec"},
     {"hyperparameters.max_trials", "max_trial_count"},
     {"hyperparameters.max_parallel_trials", "parallel_trial_count"},
     {"hyperparameters.max_failed_trials", "max_failed_trial_count"},
     {"hyperparameters.params", "study_spec.parameters"},
     {"hyperparameters.hyperparameter_metric_tag", "study_spec.metrics[0].metric_id"},
     {"hyperparameters.further_metrics", "study_spec.metrics"},
     {"hyperparameters.algorithm", "study_spec.algorithm"}}};

}  // namespace

Result<Translated> JobOf(const aip::HyperparameterTuningJob& asked, const std::string& location,
                         std::int64_t number) {
  Notes notes;
  auto translated = JobOf(TrialJobOf(asked), location, number);
  if (!translated) AddRenamed(translated.error(), TrialField, notes.findings);
  HyperparameterSpec spec = HyperparametersOf(asked, notes);
  if (!notes.findings.empty()) return std::unexpected(std::move(notes.findings).ToError());

  *translated->job.mutable_training_input()->mutable_hyperparameters() = std::move(spec);
  RenameRemarks(TrialField, translated->remarks);
  translated->remarks.insert(translated->remarks.end(), notes.remarks.begin(), notes.remarks.end());
  return translated;
}

std::string TuningJobField(const aip::HyperparameterTuningJob& asked, std::string_view ml_field) {
  constexpr std::string_view kParams = "hyperparameters.params[";
  constexpr std::string_view kFurther = "hyperparameters.further_metrics[";
  std::string_view bare = ml_field;
  for (const std::string_view prefix : {"job.", "training_input."})
    if (bare.starts_with(prefix)) bare.remove_prefix(prefix.size());
  for (const StudyFieldName& name : kOfStudy)
    if (bare == name.ml) return std::string(name.vertex);
  if (bare.starts_with(kFurther)) return MetricField(bare.substr(kFurther.size()));
  if (!bare.starts_with(kParams)) return TrialField(CustomJobField(asked.trial_job_spec(), ml_field));

  bare.remove_prefix(kParams.size());
  const std::size_t end = std::min(bare.find(']'), bare.size());
  const std::string_view rest = bare.substr(std::min(end + 1, bare.size()));
  return ParameterField(PlaceOf(asked.study_spec(), bare.substr(0, end)), rest);
}

Error InTuningJob(const aip::HyperparameterTuningJob& asked, Error error) {
  if (error.code == Code::kInvalidArgument && error.violations.empty() && !error.field.empty())
    error.violations.push_back({.field = error.field, .description = error.message});
  return Renamed(std::move(error), [&asked](std::string_view field) { return TuningJobField(asked, field); });
}

}  // namespace trainyard::vertex
