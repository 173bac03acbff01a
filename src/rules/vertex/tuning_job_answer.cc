#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/number.h"
#include "rules/jobs/trial.h"
#include "rules/vertex/task_names.h"
#include "rules/vertex/tuning_job.h"

namespace trainyard::vertex {
namespace {

using aip::StudySpec;
using ml::v1::HyperparameterOutput;
using ml::v1::HyperparameterSpec;
using ml::v1::Job;
using Parameter = aip::StudySpec::ParameterSpec;
using Measured = ml::v1::HyperparameterOutput_HyperparameterMetric;

aip::Trial::State TrialStateOf(HyperparameterOutput::State state) {
  switch (state) {
    case HyperparameterOutput::QUEUED: return aip::Trial::REQUESTED;
    case HyperparameterOutput::PREPARING:
    case HyperparameterOutput::RUNNING: return aip::Trial::ACTIVE;
    case HyperparameterOutput::CANCELLING: return aip::Trial::STOPPING;
    case HyperparameterOutput::SUCCEEDED: return aip::Trial::SUCCEEDED;
    case HyperparameterOutput::FAILED:
    case HyperparameterOutput::CANCELLED: return aip::Trial::INFEASIBLE;
    default: return aip::Trial::STATE_UNSPECIFIED;
  }
}

std::string InfeasibleReason(HyperparameterOutput::State state) {
  if (state == HyperparameterOutput::FAILED) return "The trial failed.";
  if (state == HyperparameterOutput::CANCELLED) return "The trial was cancelled.";
  return {};
}

/// Values of categories are texts even if they look like numbers.
google::protobuf::Value ValueOf(const ml::v1::ParameterSpec& param, const std::string& text) {
  google::protobuf::Value value;
  const auto number = WholeNumber<double>(text);
  if (number && param.type() != ml::v1::ParameterSpec::CATEGORICAL)
    value.set_number_value(*number);
  else
    value.set_string_value(text);
  return value;
}

void AddMetric(const std::string& metric_id, double value, aip::Measurement& measurement) {
  aip::Measurement::Metric& metric = *measurement.add_metrics();
  metric.set_metric_id(metric_id);
  metric.set_value(value);
}

std::string MetricId(const Job& now) {
  const std::string& shown = now.training_output().hyperparameter_metric_tag();
  const std::string& asked = now.training_input().hyperparameters().hyperparameter_metric_tag();
  if (!shown.empty()) return shown;
  return asked.empty() ? jobs::kMetricTagDefault : asked;
}

/// In the order of the spec.
void SetMeasurement(const Job& now, const Measured& measured, aip::Measurement& measurement) {
  measurement.set_step_count(measured.training_step());
  AddMetric(MetricId(now), measured.objective_value(), measurement);
  for (const auto& metric : now.training_input().hyperparameters().further_metrics()) {
    const auto value = measured.further_values().find(metric.hyperparameter_metric_tag());
    if (value != measured.further_values().end()) AddMetric(value->first, value->second, measurement);
  }
}

aip::Trial TrialOf(const Job& now, const HyperparameterOutput& output) {
  aip::Trial trial;
  trial.set_id(output.trial_id());
  trial.set_state(TrialStateOf(output.state()));
  trial.set_infeasible_reason(InfeasibleReason(output.state()));
  for (const ml::v1::ParameterSpec& param : now.training_input().hyperparameters().params()) {
    const auto value = output.hyperparameters().find(param.parameter_name());
    if (value == output.hyperparameters().end()) continue;
    aip::Trial::Parameter& parameter = *trial.add_parameters();
    parameter.set_parameter_id(param.parameter_name());
    *parameter.mutable_value() = ValueOf(param, value->second);
  }
  for (const Measured& measured : output.all_metrics())
    SetMeasurement(now, measured, *trial.add_measurements());
  if (output.has_final_metric())
    SetMeasurement(now, output.final_metric(), *trial.mutable_final_measurement());
  if (output.has_start_time()) *trial.mutable_start_time() = output.start_time();
  if (output.has_end_time()) *trial.mutable_end_time() = output.end_time();
  for (const auto& [task, uri] : output.web_access_uris())
    (*trial.mutable_web_access_uris())[PoolTaskName(task)] = uri;
  return trial;
}

void SetOutputs(const Job& now, std::string name, aip::HyperparameterTuningJob& answer) {
  const aip::CustomJob shown = CustomJobOf(aip::CustomJob(), now, std::move(name));
  answer.set_name(shown.name());
  answer.set_state(shown.state());
  *answer.mutable_labels() = shown.labels();
  *answer.mutable_create_time() = shown.create_time();
  *answer.mutable_update_time() = shown.update_time();
  answer.clear_start_time();
  answer.clear_end_time();
  answer.clear_error();
  if (shown.has_start_time()) *answer.mutable_start_time() = shown.start_time();
  if (shown.has_end_time()) *answer.mutable_end_time() = shown.end_time();
  if (shown.has_error()) *answer.mutable_error() = shown.error();
  answer.clear_trials();
  for (const HyperparameterOutput& output : now.training_output().trials())
    *answer.add_trials() = TrialOf(now, output);
  std::ranges::sort(*answer.mutable_trials(), {},  // ml v1 has the best trial first
                    [](const aip::Trial& trial) { return jobs::TrialNumber(trial.id()); });
}

void DescribeParameter(const ml::v1::ParameterSpec& param, Parameter& parameter) {
  parameter.set_parameter_id(param.parameter_name());
  Parameter::ScaleType scale = Parameter::SCALE_TYPE_UNSPECIFIED;
  if (Parameter::ScaleType_Parse(ml::v1::ParameterSpec::ScaleType_Name(param.scale_type()), &scale))
    parameter.set_scale_type(scale);
  switch (param.type()) {
    case ml::v1::ParameterSpec::DOUBLE:
      parameter.mutable_double_value_spec()->set_min_value(param.min_value());
      parameter.mutable_double_value_spec()->set_max_value(param.max_value());
      return;
    case ml::v1::ParameterSpec::INTEGER:  // validated: whole and exact in a double
      parameter.mutable_integer_value_spec()->set_min_value(static_cast<std::int64_t>(param.min_value()));
      parameter.mutable_integer_value_spec()->set_max_value(static_cast<std::int64_t>(param.max_value()));
      return;
    case ml::v1::ParameterSpec::CATEGORICAL:
      *parameter.mutable_categorical_value_spec()->mutable_values() = param.categorical_values();
      return;
    case ml::v1::ParameterSpec::DISCRETE:
      *parameter.mutable_discrete_value_spec()->mutable_values() = param.discrete_values();
      return;
    default: return;
  }
}

void DescribeCondition(const ml::v1::ParameterSpec& parent, const ml::v1::ParameterSpec& param,
                       Parameter::ConditionalParameterSpec& conditional) {
  for (const std::string& value : param.condition().values()) {
    if (parent.type() == ml::v1::ParameterSpec::CATEGORICAL)
      conditional.mutable_parent_categorical_values()->add_values(value);
    const double number = WholeNumber<double>(value).value_or(0);  // validated: a value of the parent
    if (parent.type() == ml::v1::ParameterSpec::DISCRETE)
      conditional.mutable_parent_discrete_values()->add_values(number);
    if (parent.type() == ml::v1::ParameterSpec::INTEGER)
      conditional.mutable_parent_int_values()->add_values(static_cast<std::int64_t>(number));
  }
}

/// Each parameter with a condition becomes a part of the one that it depends on.
void DescribeParameters(const HyperparameterSpec& spec, StudySpec& study) {
  std::map<std::string_view, std::pair<const ml::v1::ParameterSpec*, Parameter*>> described;
  for (const ml::v1::ParameterSpec& param : spec.params()) {
    Parameter* parameter = nullptr;
    const auto parent = described.find(param.condition().parameter_name());
    if (param.has_condition() && parent != described.end()) {
      auto& conditional = *parent->second.second->add_conditional_parameter_specs();
      DescribeCondition(*parent->second.first, param, conditional);
      parameter = conditional.mutable_parameter_spec();
    } else {
      parameter = study.add_parameters();
    }
    DescribeParameter(param, *parameter);
    described[param.parameter_name()] = {&param, parameter};
  }
}

void DescribeMetric(const std::string& tag, HyperparameterSpec::Goal goal, StudySpec::MetricSpec& metric) {
  metric.set_metric_id(tag);
  metric.set_goal(goal == HyperparameterSpec::MINIMIZE ? StudySpec::MetricSpec::MINIMIZE
                                                       : StudySpec::MetricSpec::MAXIMIZE);
}

void DescribeStudy(const Job& now, StudySpec& study) {
  const HyperparameterSpec& spec = now.training_input().hyperparameters();
  DescribeMetric(MetricId(now), spec.goal(), *study.add_metrics());
  for (const HyperparameterSpec::FurtherMetric& further : spec.further_metrics())
    DescribeMetric(further.hyperparameter_metric_tag(), further.goal(), *study.add_metrics());
  DescribeParameters(spec, study);
  StudySpec::Algorithm algorithm = StudySpec::ALGORITHM_UNSPECIFIED;
  if (StudySpec::Algorithm_Parse(HyperparameterSpec::Algorithm_Name(spec.algorithm()), &algorithm))
    study.set_algorithm(algorithm);
  if (spec.enable_trial_early_stopping() && spec.further_metrics().empty())
    study.mutable_median_automated_stopping_spec();
}

}  // namespace

aip::HyperparameterTuningJob TuningJobOf(const aip::HyperparameterTuningJob& asked, const Job& now,
                                         std::string name) {
  aip::HyperparameterTuningJob answer = asked;
  SetOutputs(now, std::move(name), answer);
  return answer;
}

aip::HyperparameterTuningJob TuningJobOf(const Job& now, std::string name) {
  aip::HyperparameterTuningJob answer;
  const aip::CustomJob described = CustomJobOf(now, name);
  answer.set_display_name(described.display_name());
  *answer.mutable_trial_job_spec() = described.job_spec();
  const HyperparameterSpec& spec = now.training_input().hyperparameters();
  answer.set_max_trial_count(std::max(spec.max_trials(), 1));  // ml v1 runs one if it is not told
  answer.set_parallel_trial_count(std::max(spec.max_parallel_trials(), 1));
  answer.set_max_failed_trial_count(spec.max_failed_trials());
  DescribeStudy(now, *answer.mutable_study_spec());
  SetOutputs(now, std::move(name), answer);
  return answer;
}

}  // namespace trainyard::vertex
