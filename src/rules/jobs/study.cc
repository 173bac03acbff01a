#include "rules/jobs/study.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/number.h"
#include "base/wire/time.h"
#include "rules/jobs/trial.h"
#include "rules/tuning/values.h"

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

/// The parent stands before the parameter, and the values are its own: Validate.
tuning::Parameter::Condition ConditionOf(const HyperparameterSpec& spec,
                                         const ParameterSpec::Condition& asked) {
  const auto at = std::ranges::find(spec.params(), asked.parameter_name(), &ParameterSpec::parameter_name);
  TY_CHECK(at != spec.params().end());
  tuning::Parameter::Condition condition{.parent = static_cast<int>(at - spec.params().begin())};
  for (const std::string& text : asked.values())
    if (const auto value = CoordinateOf(*at, text)) condition.values.push_back(*value);
  return condition;
}

tuning::Algorithm AlgorithmOf(const HyperparameterSpec& spec) {
  switch (spec.algorithm()) {
    case HyperparameterSpec::GRID_SEARCH: return tuning::Algorithm::kGrid;
    case HyperparameterSpec::RANDOM_SEARCH: return tuning::Algorithm::kRandom;
    default: return tuning::Algorithm::kDefault;
  }
}

/// The first metric's curve: only jobs with one metric use it (StopsEarly).
std::vector<tuning::StepReport> CurveOf(const JobRecord& trial, const replica::v1::MetricReport& report) {
  std::vector<tuning::StepReport> curve;
  const google::protobuf::Timestamp& start =
      trial.has_running_time() ? trial.running_time() : trial.job().create_time();
  std::vector<double> values(MetricTags(trial).size(), std::numeric_limits<double>::quiet_NaN());
  for (const replica::v1::Measurement& measurement : report.measurements()) {
    const std::chrono::duration<double> elapsed =
        wire::FromProto(measurement.time()) - wire::FromProto(start);
    values.front() = measurement.value();
    curve.push_back(
        {.step = measurement.step(), .elapsed_s = std::max(0.0, elapsed.count()), .values = values});
  }
  return curve;
}

std::vector<tuning::Objective> ObjectivesOf(const JobRecord& tuning) {
  std::vector<tuning::Objective> metrics = {{.name = MetricTag(tuning), .maximize = Maximizes(tuning)}};
  for (const HyperparameterSpec::FurtherMetric& metric :
       tuning.job().training_input().hyperparameters().further_metrics())
    metrics.push_back({.name = metric.hyperparameter_metric_tag(),
                       .maximize = metric.goal() != HyperparameterSpec::MINIMIZE});
  return metrics;
}

Error NotResumable(const HyperparameterSpec& spec, const std::string& why) {
  return FailedPrecondition("The job " + spec.resume_previous_job_id() + " cannot be resumed: " + why,
                            kResumeField);
}

template <class Messages>
bool SameMessages(const Messages& a, const Messages& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return google::protobuf::util::MessageDifferencer::Equals(x, y);
  });
}

}  // namespace

std::optional<double> CoordinateOf(const ParameterSpec& param, std::string_view text) {
  if (param.type() == ParameterSpec::CATEGORICAL) {
    const auto found = std::ranges::find(param.categorical_values(), text);
    if (found == param.categorical_values().end()) return std::nullopt;
    return static_cast<double>(found - param.categorical_values().begin());
  }
  const std::optional<double> value = WholeNumber<double>(text);
  if (param.type() == ParameterSpec::DISCRETE)  // not sorted yet while it is validated
    return std::ranges::count(param.discrete_values(), value) > 0 ? value : std::nullopt;
  if (param.type() != ParameterSpec::INTEGER) return std::nullopt;
  return value && tuning::HasValue(ParameterOf(param), *value) ? value : std::nullopt;
}

tuning::StudySpec StudyOf(const JobRecord& tuning) {
  const HyperparameterSpec& spec = tuning.job().training_input().hyperparameters();
  tuning::StudySpec study{.space = {},
                          .metrics = ObjectivesOf(tuning),
                          .algorithm = AlgorithmOf(spec),
                          .seed = tuning.tuning().seed(),
                          .trials_planned = MaxTrials(tuning)};
  for (const ParameterSpec& param : spec.params()) {
    study.space.parameters.push_back(ParameterOf(param));
    if (param.has_condition()) study.space.parameters.back().condition = ConditionOf(spec, param.condition());
  }
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
    if (std::isnan(point[i])) continue;  // tuning::kInactive
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
  const auto metric = FinalMetric(record, report);
  if (metric) trial.values = MetricValues(record, *metric);
  if (!metric || record.job().state() == Job::FAILED) {
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
  if (spec.further_metrics().empty() && !former.further_metrics().empty()) {
    *spec.mutable_further_metrics() = former.further_metrics();
    taken.emplace_back("furtherMetrics");
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
  if (!SameMessages(spec.params(), former.params())) {
    return std::unexpected(
        NotResumable(spec, "its params are others. Both jobs need the same params, in the same order."));
  }
  if (Maximizes(tuning) != Maximizes(previous))
    return std::unexpected(NotResumable(spec, "its goal is another one."));
  if (MetricTag(tuning) != MetricTag(previous)) {
    return std::unexpected(
        NotResumable(spec, "its hyperparameter_metric_tag is '" + MetricTag(previous) + "'."));
  }
  if (!SameMessages(spec.further_metrics(), former.further_metrics())) {
    return std::unexpected(NotResumable(
        spec, "its further_metrics are others. Both jobs need the same metrics, in the same order."));
  }
  return {};
}

}  // namespace trainyard::jobs
