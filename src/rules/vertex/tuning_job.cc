#include "rules/vertex/tuning_job.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "rules/vertex/error_fields.h"
#include "rules/vertex/findings.h"
#include "rules/vertex/renamed_fields.h"

namespace trainyard::vertex {
namespace {

using aip::StudySpec;
using ml::v1::HyperparameterSpec;
using Parameter = aip::StudySpec::ParameterSpec;

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

void SetMetric(const StudySpec& study, HyperparameterSpec& spec, Notes& notes) {
  if (study.metrics().empty()) return notes.findings.Add("study_spec.metrics", kRequired);
  if (study.metrics_size() > 1)
    return notes.findings.Add("study_spec.metrics", "This server tunes by one metric; there are " +
                                                        std::to_string(study.metrics_size()) + ".");
  const StudySpec::MetricSpec& metric = study.metrics(0);
  if (metric.metric_id().empty()) notes.findings.Add("study_spec.metrics[0].metric_id", kRequired);
  if (metric.has_safety_config())
    notes.findings.Add("study_spec.metrics[0].safety_config",
                       "Safety metrics are not supported by this server. Leave out this field.");
  spec.set_hyperparameter_metric_tag(metric.metric_id());
  switch (metric.goal()) {
    case StudySpec::MetricSpec::MAXIMIZE: spec.set_goal(HyperparameterSpec::MAXIMIZE); break;
    case StudySpec::MetricSpec::MINIMIZE: spec.set_goal(HyperparameterSpec::MINIMIZE); break;
    default: notes.findings.Add("study_spec.metrics[0].goal", "The goal must be MAXIMIZE or MINIMIZE.");
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

void AddParameter(const Parameter& asked, const std::string& field, HyperparameterSpec& spec, Notes& notes) {
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
  if (!asked.conditional_parameter_specs().empty())
    notes.findings.Add(
        field + ".conditional_parameter_specs",
        "Conditional parameters are not supported by the tuning jobs of this server. Make each "
        "of them a parameter of its own: every trial then gets a value for it.");
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
  SetMetric(study, spec, notes);
  if (study.parameters().empty()) notes.findings.Add("study_spec.parameters", kRequired);
  for (int i = 0; i < study.parameters_size(); ++i)
    AddParameter(study.parameters(i), "study_spec.parameters[" + std::to_string(i) + "]", spec, notes);
  SetAlgorithm(study, spec, notes);
  SetStopping(study, spec, notes);
  AddRemarks(study, notes);
  return spec;
}

struct StudyFieldName {
  std::string_view ml;
  std::string_view vertex;
};

constexpr std::array<StudyFieldName, 7> kOfStudy = {
    {{"hyperparameters", "study_spec"},
     {"hyperparameters.max_trials", "max_trial_count"},
     {"hyperparameters.max_parallel_trials", "parallel_trial_count"},
     {"hyperparameters.max_failed_trials", "max_failed_trial_count"},
     {"hyperparameters.params", "study_spec.parameters"},
     {"hyperparameters.hyperparameter_metric_tag", "study_spec.metrics[0].metric_id"},
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
  std::string_view bare = ml_field;
  for (const std::string_view prefix : {"job.", "training_input."})
    if (bare.starts_with(prefix)) bare.remove_prefix(prefix.size());
  for (const StudyFieldName& name : kOfStudy)
    if (bare == name.ml) return std::string(name.vertex);
  if (!bare.starts_with(kParams)) return TrialField(CustomJobField(asked.trial_job_spec(), ml_field));

  const std::string_view rest = bare.substr(kParams.size());
  const std::size_t end = std::min(rest.find(']'), rest.size());
  std::string field = "study_spec.parameters[" + std::string(rest.substr(0, end)) + "]";
  if (rest.ends_with("].parameter_name")) field += ".parameter_id";
  if (rest.ends_with("].scale_type")) field += ".scale_type";
  return field;
}

Error InTuningJob(const aip::HyperparameterTuningJob& asked, Error error) {
  if (error.code == Code::kInvalidArgument && error.violations.empty() && !error.field.empty())
    error.violations.push_back({.field = error.field, .description = error.message});
  return Renamed(std::move(error), [&asked](std::string_view field) { return TuningJobField(asked, field); });
}

}  // namespace trainyard::vertex
