#include "rules/vertex/trial.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rules/vertex/findings.h"
#include "trainyard/ml/v1/study_operations.pb.h"

namespace trainyard::vertex {
namespace {

namespace original = google::cloud::ml::v1;
using google::protobuf::Value;
using Spec = ml::v1::StudyConfig::ParameterSpec;
using Specs = google::protobuf::RepeatedPtrField<Spec>;
using MlTrial = ml::v1::Trial;

constexpr double kIntegerMax = 9007199254740992;  // 2^53: beyond it doubles skip whole numbers

std::string LastPart(const std::string& name) { return name.substr(name.rfind('/') + 1); }

using Given = google::protobuf::RepeatedPtrField<aip::Trial::Parameter>;

/// Whether the child's condition has the value that the trial gives to its parent.
bool IsActive(const Spec& child, const Value& of_parent) {
  const auto is_number = [&](double value) {
    return of_parent.kind_case() == Value::kNumberValue && of_parent.number_value() == value;
  };
  if (child.has_parent_categorical_values())
    return of_parent.kind_case() == Value::kStringValue &&
           std::ranges::count(child.parent_categorical_values().values(), of_parent.string_value()) > 0;
  return std::ranges::any_of(child.parent_discrete_values().values(), is_number) ||
         std::ranges::any_of(child.parent_int_values().values(), is_number);
}

/// The parameter with this name: `spec`, or one below it.
const Spec* FindBelow(const Spec& spec, const std::string& name, const Given& given, bool only_active) {
  if (spec.parameter() == name) return &spec;
  const auto parent = std::ranges::find(given, spec.parameter(), &aip::Trial::Parameter::parameter_id);
  for (const Spec& child : spec.child_parameter_specs()) {
    if (only_active && (parent == given.end() || !IsActive(child, parent->value()))) continue;
    if (const Spec* found = FindBelow(child, name, given, only_active)) return found;
  }
  return nullptr;
}

/// The parameter with this name. Siblings with different conditions may have one name: the one that the
/// trial's own values make active is meant; without such a one, the first. Null: there is none.
const Spec* Find(const Specs& specs, const std::string& name, const Given& given) {
  for (const bool only_active : {true, false})
    for (const Spec& spec : specs)
      if (const Spec* found = FindBelow(spec, name, given, only_active)) return found;
  return nullptr;
}

/// What is wrong with the value; empty: nothing. `spec` is null for a name that the study does not have.
std::string SetValue(const Value& value, const Spec* spec, MlTrial::Parameter& parameter) {
  const std::string whose = "The value of '" + parameter.parameter() + "' must be a ";
  const bool is_number = value.kind_case() == Value::kNumberValue;
  if (!is_number && value.kind_case() != Value::kStringValue) return whose + "number or a text.";
  const bool wants_text = spec != nullptr && spec->type() == Spec::CATEGORICAL;
  if (spec != nullptr && wants_text == is_number) return whose + (wants_text ? "text." : "number.");
  const bool is_integer = spec != nullptr && spec->type() == Spec::INTEGER;
  const double number = value.number_value();
  if (is_integer && (std::trunc(number) != number || std::abs(number) > kIntegerMax))
    return whose + "whole number.";
  if (is_integer)
    parameter.set_int_value(static_cast<std::int64_t>(number));
  else if (is_number)
    parameter.set_float_value(number);
  else
    parameter.set_string_value(value.string_value());
  return {};
}

ml::v1::Measurement MlMeasurementOf(const aip::Measurement& asked) {
  ml::v1::Measurement measurement;
  if (asked.has_elapsed_duration()) *measurement.mutable_elapsed_time() = asked.elapsed_duration();
  measurement.set_step_count(asked.step_count());
  for (const aip::Measurement::Metric& metric : asked.metrics()) {
    ml::v1::Measurement::Metric& made = *measurement.add_metrics();
    made.set_metric(metric.metric_id());
    made.set_value(metric.value());
  }
  return measurement;
}

aip::Measurement MeasurementOf(const ml::v1::Measurement& shown) {
  aip::Measurement measurement;
  if (shown.has_elapsed_time()) *measurement.mutable_elapsed_duration() = shown.elapsed_time();
  measurement.set_step_count(shown.step_count());
  for (const ml::v1::Measurement::Metric& metric : shown.metrics()) {
    aip::Measurement::Metric& made = *measurement.add_metrics();
    made.set_metric_id(metric.metric());
    made.set_value(metric.value());
  }
  return measurement;
}

MlTrial::State MlStateOf(aip::Trial::State state) {
  switch (state) {
    case aip::Trial::REQUESTED: return MlTrial::REQUESTED;
    case aip::Trial::ACTIVE: return MlTrial::ACTIVE;
    case aip::Trial::STOPPING: return MlTrial::STOPPING;
    case aip::Trial::SUCCEEDED: return MlTrial::COMPLETED;
    default: return MlTrial::STATE_UNSPECIFIED;
  }
}

aip::Trial::State TrialStateOf(const MlTrial& trial) {
  switch (trial.state()) {
    case MlTrial::REQUESTED: return aip::Trial::REQUESTED;
    case MlTrial::ACTIVE: return aip::Trial::ACTIVE;
    case MlTrial::STOPPING: return aip::Trial::STOPPING;
    case MlTrial::COMPLETED: return trial.trial_infeasible() ? aip::Trial::INFEASIBLE : aip::Trial::SUCCEEDED;
    default: return aip::Trial::STATE_UNSPECIFIED;
  }
}

void SetParameter(const MlTrial::Parameter& shown, aip::Trial::Parameter& parameter) {
  parameter.set_parameter_id(shown.parameter());
  Value& value = *parameter.mutable_value();
  switch (shown.value_case()) {
    case MlTrial::Parameter::kFloatValue: return value.set_number_value(shown.float_value());
    case MlTrial::Parameter::kIntValue:
      return value.set_number_value(static_cast<double>(shown.int_value()));  // within 2^53
    case MlTrial::Parameter::kStringValue: return value.set_string_value(shown.string_value());
    case MlTrial::Parameter::VALUE_NOT_SET: return;
  }
}

/// @param end_time  of the response; absent: the operation is not done
template <class Metadata, class Original>
void SetTimes(const Original& now, const google::protobuf::Timestamp* end_time, Metadata& metadata) {
  *metadata.mutable_generic_metadata()->mutable_create_time() = now.create_time();
  *metadata.mutable_generic_metadata()->mutable_update_time() =
      end_time != nullptr ? *end_time : now.create_time();
}

void SetSuggestion(const longrunning::Operation& now, const original::SuggestTrialsMetadata& asked,
                   const std::string& study_name, google::longrunning::Operation& operation) {
  original::SuggestTrialsResponse given;
  const bool has_response = now.has_response() && now.response().UnpackTo(&given);
  aip::SuggestTrialsMetadata metadata;
  SetTimes(asked, has_response ? &given.end_time() : nullptr, metadata);
  metadata.set_client_id(asked.client_id());
  operation.mutable_metadata()->PackFrom(metadata);
  if (!has_response) return;
  aip::SuggestTrialsResponse response;
  for (const MlTrial& trial : given.trials()) *response.add_trials() = TrialOf(trial, study_name);
  response.set_study_state(static_cast<aip::Study::State>(given.study_state()));
  *response.mutable_start_time() = given.start_time();
  *response.mutable_end_time() = given.end_time();
  operation.mutable_response()->PackFrom(response);
}

void SetCheck(const longrunning::Operation& now, const original::CheckTrialEarlyStoppingStateMetatdata& asked,
              const std::string& study_name, google::longrunning::Operation& operation) {
  original::CheckTrialEarlyStoppingStateResponse given;
  const bool has_response = now.has_response() && now.response().UnpackTo(&given);
  aip::CheckTrialEarlyStoppingStateMetatdata metadata;
  SetTimes(asked, has_response ? &given.end_time() : nullptr, metadata);
  metadata.set_study(study_name);
  metadata.set_trial(study_name + "/trials/" + LastPart(asked.trial()));
  operation.mutable_metadata()->PackFrom(metadata);
  if (!has_response) return;
  aip::CheckTrialEarlyStoppingStateResponse response;
  response.set_should_stop(given.should_stop());
  operation.mutable_response()->PackFrom(response);
}

}  // namespace

Result<ml::v1::Trial> MlTrialOf(const aip::Trial& asked, const ml::v1::StudyConfig& config) {
  Findings findings;
  MlTrial trial;
  for (int i = 0; i < asked.parameters_size(); ++i) {
    const aip::Trial::Parameter& given = asked.parameters(i);
    MlTrial::Parameter& parameter = *trial.add_parameters();
    parameter.set_parameter(given.parameter_id());
    std::string wrong = SetValue(
        given.value(), Find(config.parameters(), given.parameter_id(), asked.parameters()), parameter);
    if (!wrong.empty()) findings.Add("parameters[" + std::to_string(i) + "].value", std::move(wrong));
  }
  if (asked.state() == aip::Trial::INFEASIBLE)
    findings.Add("state", "A new trial cannot be INFEASIBLE. Create it, and call CompleteTrial.");
  trial.set_state(MlStateOf(asked.state()));
  if (asked.has_final_measurement())
    *trial.mutable_final_measurement() = MlMeasurementOf(asked.final_measurement());
  for (const aip::Measurement& measurement : asked.measurements())
    *trial.add_measurements() = MlMeasurementOf(measurement);
  if (!findings.empty()) return std::unexpected(std::move(findings).ToError());
  return trial;
}

aip::Trial TrialOf(const ml::v1::Trial& trial, const std::string& study_name) {
  aip::Trial shown;
  shown.set_id(LastPart(trial.name()));
  shown.set_name(study_name + "/trials/" + shown.id());
  shown.set_state(TrialStateOf(trial));
  for (const MlTrial::Parameter& parameter : trial.parameters())
    SetParameter(parameter, *shown.add_parameters());
  if (trial.has_final_measurement())
    *shown.mutable_final_measurement() = MeasurementOf(trial.final_measurement());
  for (const ml::v1::Measurement& measurement : trial.measurements())
    *shown.add_measurements() = MeasurementOf(measurement);
  if (trial.has_start_time()) *shown.mutable_start_time() = trial.start_time();
  if (trial.has_end_time()) *shown.mutable_end_time() = trial.end_time();
  shown.set_client_id(trial.client_id());
  shown.set_infeasible_reason(trial.infeasible_reason());
  return shown;
}

ml::v1::AddTrialMeasurementRequest MlRequestOf(const aip::AddTrialMeasurementRequest& asked) {
  ml::v1::AddTrialMeasurementRequest request;
  if (asked.has_measurement()) *request.mutable_measurement() = MlMeasurementOf(asked.measurement());
  return request;
}

ml::v1::CompleteTrialRequest MlRequestOf(const aip::CompleteTrialRequest& asked) {
  ml::v1::CompleteTrialRequest request;
  if (asked.has_final_measurement())
    *request.mutable_final_measurement() = MlMeasurementOf(asked.final_measurement());
  request.set_trial_infeasible(asked.trial_infeasible());
  request.set_infeasible_reason(asked.infeasible_reason());
  return request;
}

Result<ml::v1::SuggestTrialsRequest> MlRequestOf(const aip::SuggestTrialsRequest& asked) {
  if (!asked.contexts().empty()) {
    Findings findings;
    findings.Add("contexts", "Contexts are not supported by this server. Leave out this field.");
    return std::unexpected(std::move(findings).ToError());
  }
  ml::v1::SuggestTrialsRequest request;
  request.set_client_id(asked.client_id());
  request.set_suggestion_count(asked.suggestion_count());
  return request;
}

Result<google::longrunning::Operation> OperationOf(const longrunning::Operation& now,
                                                   const std::string& study_name, std::int64_t id) {
  google::longrunning::Operation operation;
  original::SuggestTrialsMetadata suggestion;
  original::CheckTrialEarlyStoppingStateMetatdata check;
  std::string parent = study_name;
  if (now.metadata().UnpackTo(&suggestion)) {
    SetSuggestion(now, suggestion, study_name, operation);
  } else if (now.metadata().UnpackTo(&check)) {
    parent += "/trials/" + LastPart(check.trial());
    SetCheck(now, check, study_name, operation);
  } else {
    return std::unexpected(DataLoss("An operation of a study is of no known kind"));
  }
  operation.set_name(parent + "/operations/" + std::to_string(id));
  operation.set_done(now.done());
  if (now.has_error()) {
    operation.mutable_error()->set_code(now.error().code());
    operation.mutable_error()->set_message(now.error().message());
  }
  return operation;
}

}  // namespace trainyard::vertex
