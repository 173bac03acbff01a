#include "rules/jobs/study.h"

#include <google/protobuf/util/message_differencer.h>

#include <cmath>

#include "base/wire/time.h"
#include "rules/jobs/trial.h"
#include "rules/measurement/report.h"

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;
using ml::v1::HyperparameterSpec;
using ml::v1::Job;
using ml::v1::ParameterSpec;

constexpr std::string_view kResumeField = "hyperparameters.resume_previous_job_id";

tuning::Scale ScaleOf(const ParameterSpec& param) {
  switch (param.scale_type()) {
    case ParameterSpec::UNIT_LOG_SCALE: return tuning::Scale::kLog;
    case ParameterSpec::UNIT_REVERSE_LOG_SCALE: return tuning::Scale::kReverseLog;
    default: return tuning::Scale::kLinear;
  }
}

tuning::Parameter ParameterOf(const ParameterSpec& param) {
  using Type = tuning::Parameter::Type;
  tuning::Parameter parameter{
      .name = param.parameter_name(), .scale = ScaleOf(param), .discrete = {}, .categories = {}};
  switch (param.type()) {
    case ParameterSpec::INTEGER: parameter.type = Type::kInteger; break;
    case ParameterSpec::DISCRETE:
      parameter.type = Type::kDiscrete;
      parameter.discrete.assign(param.discrete_values().begin(), param.discrete_values().end());
      return parameter;
    case ParameterSpec::CATEGORICAL:
      parameter.type = Type::kCategorical;
      parameter.categories.assign(param.categorical_values().begin(), param.categorical_values().end());
      return parameter;
    default: parameter.type = Type::kDouble; break;
  }
  parameter.min = param.min_value();
  parameter.max = param.max_value();
  return parameter;
}

tuning::Algorithm AlgorithmOf(const HyperparameterSpec& spec) {
  switch (spec.algorithm()) {
    case HyperparameterSpec::GRID_SEARCH: return tuning::Algorithm::kGrid;
    case HyperparameterSpec::RANDOM_SEARCH: return tuning::Algorithm::kRandom;
    default: return tuning::Algorithm::kDefault;
  }
}

std::vector<tuning::StepReport> CurveOf(const JobRecord& trial, const replica::v1::MetricReport& report) {
  std::vector<tuning::StepReport> curve;
  const google::protobuf::Timestamp& start =
      trial.has_running_time() ? trial.running_time() : trial.job().create_time();
  for (const replica::v1::Measurement& measurement : report.measurements()) {
    const std::chrono::duration<double> elapsed =
        wire::FromProto(measurement.time()) - wire::FromProto(start);
    curve.push_back({.step = measurement.step(),
                     .elapsed_s = std::max(0.0, elapsed.count()),
                     .values = {measurement.value()}});
  }
  return curve;
}

Error NotResumable(const HyperparameterSpec& spec, const std::string& why) {
  return FailedPrecondition("The job " + spec.resume_previous_job_id() + " cannot be resumed: " + why,
                            kResumeField);
}

bool SameParameters(const HyperparameterSpec& a, const HyperparameterSpec& b) {
  if (a.params_size() != b.params_size()) return false;
  for (int i = 0; i < a.params_size(); ++i) {
    if (!google::protobuf::util::MessageDifferencer::Equals(a.params(i), b.params(i))) return false;
  }
  return true;
}

}  // namespace

tuning::StudySpec StudyOf(const JobRecord& tuning) {
  const HyperparameterSpec& spec = tuning.job().training_input().hyperparameters();
  tuning::StudySpec study{.space = {},
                          .metrics = {{.name = MetricTag(tuning), .maximize = Maximizes(tuning)}},
                          .algorithm = AlgorithmOf(spec),
                          .seed = tuning.tuning().seed(),
                          .trials_planned = MaxTrials(tuning)};
  for (const ParameterSpec& param : spec.params()) study.space.parameters.push_back(ParameterOf(param));
  return study;
}

control::v1::Event NextTrial(const JobRecord& tuning, const tuning::Space& space,
                             const tuning::Point& point) {
  control::v1::Event event;
  control::v1::Event::TrialCreated& created = *event.mutable_trial_created();
  created.set_trial_id(std::to_string(tuning.tuning().trials_created() + 1));
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    const tuning::Parameter& parameter = space.parameters[i];
    created.add_point(point.at(i));
    (*created.mutable_hyperparameters())[parameter.name] = tuning::ValueText(parameter, point[i]);
  }
  return event;
}

tuning::Trial StudyTrial(const JobRecord& record, const replica::v1::MetricReport& report, bool with_curve) {
  using State = tuning::Trial::State;
  tuning::Trial trial{.id = TrialNumber(record.trial().trial_id()),
                      .point = {record.trial().point().begin(), record.trial().point().end()},
                      .values = {},
                      .curve = {}};
  if (with_curve) trial.curve = CurveOf(record, report);
  if (!record.job().has_end_time()) return trial;
  const auto last = measurement::FinalMeasurement(report);
  if (last) trial.values = {last->value()};
  if (!last || record.job().state() == Job::FAILED) {
    trial.state = State::kInfeasible;
  } else if (record.trial().stopped_early() || record.job().state() == Job::CANCELLED) {
    trial.state = State::kStoppedEarly;
  } else {
    trial.state = State::kCompleted;
  }
  return trial;
}

std::string InheritSpec(const JobRecord& previous, HyperparameterSpec& spec) {
  const HyperparameterSpec& former = previous.job().training_input().hyperparameters();
  std::vector<std::string_view> taken;
  if (spec.params().empty() && !former.params().empty()) {
    *spec.mutable_params() = former.params();
    taken.emplace_back("params");
  }
  if (spec.goal() == HyperparameterSpec::GOAL_TYPE_UNSPECIFIED && former.goal() != spec.goal()) {
    spec.set_goal(former.goal());
    taken.emplace_back("goal");
  }
  if (spec.hyperparameter_metric_tag().empty() && !former.hyperparameter_metric_tag().empty()) {
    spec.set_hyperparameter_metric_tag(former.hyperparameter_metric_tag());
    taken.emplace_back("hyperparameterMetricTag");
  }
  if (spec.algorithm() == HyperparameterSpec::ALGORITHM_UNSPECIFIED &&
      former.algorithm() != spec.algorithm()) {
    spec.set_algorithm(former.algorithm());
    taken.emplace_back("algorithm");
  }
  if (taken.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const bool is_last = i + 1 == taken.size();
    names += (i == 0 ? "" : is_last ? " and " : ", ") + std::string(taken[i]);
  }
  return "Taken from the job " + previous.job().job_id() + " (resumePreviousJobId): " + names + ".";
}

Status CheckResumable(const JobRecord& tuning, const JobRecord& previous) {
  const HyperparameterSpec& spec = tuning.job().training_input().hyperparameters();
  const HyperparameterSpec& former = previous.job().training_input().hyperparameters();
  if (!previous.has_tuning())
    return std::unexpected(NotResumable(spec, "it is not a hyperparameter tuning job."));
  if (!previous.job().has_end_time()) {
    return std::unexpected(NotResumable(
        spec, "it is " + Job::State_Name(previous.job().state()) + ". Wait for its end, or cancel it."));
  }
  if (!SameParameters(spec, former)) {
    return std::unexpected(
        NotResumable(spec, "its params are others. Both jobs need the same params, in the same order."));
  }
  if (Maximizes(tuning) != Maximizes(previous))
    return std::unexpected(NotResumable(spec, "its goal is another one."));
  if (MetricTag(tuning) != MetricTag(previous)) {
    return std::unexpected(
        NotResumable(spec, "its hyperparameter_metric_tag is '" + MetricTag(previous) + "'."));
  }
  return {};
}

}  // namespace trainyard::jobs
