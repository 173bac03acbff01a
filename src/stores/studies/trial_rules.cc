#include "stores/studies/trial_rules.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/wire/time.h"
#include "stores/studies/trial_values.h"

namespace trainyard::studies {
namespace {

using ml::v1::Measurement;
using ml::v1::Trial;

std::unexpected<Error> Invalid(const std::string& field, std::string text) {
  return std::unexpected(InvalidArgument(field, std::move(text)));
}

std::unexpected<Error> Failed(std::string text) {
  return std::unexpected(FailedPrecondition(std::move(text), "name"));
}

Status CheckMeasurement(const Measurement& measurement, const std::string& field) {
  if (measurement.metrics().empty()) return Invalid(field + ".metrics", "This field is required.");
  std::set<std::string_view> names;
  for (int i = 0; i < measurement.metrics_size(); ++i) {
    const Measurement::Metric& metric = measurement.metrics(i);
    const std::string at = field + ".metrics[" + std::to_string(i) + "]";
    if (metric.metric().empty()) return Invalid(at + ".metric", "This field is required.");
    if (!metric.has_value()) return Invalid(at + ".value", "This field is required.");
    if (!names.insert(metric.metric()).second)
      return Invalid(at + ".metric", "The metric '" + metric.metric() + "' is given twice.");
  }
  if (measurement.step_count() < 0) return Invalid(field + ".step_count", "The value must not be negative.");
  if (wire::FromProto(measurement.elapsed_time()) < std::chrono::nanoseconds{})
    return Invalid(field + ".elapsed_time", "The value must not be negative.");
  return {};
}

auto PlaceOf(const Measurement& measurement) {
  return std::tuple(measurement.step_count(), measurement.elapsed_time().seconds(),
                    measurement.elapsed_time().nanos());
}

/// The newest report of a place is used: a restarted program reports its steps again.
void Insert(Trial& trial, Measurement measurement) {
  auto& list = *trial.mutable_measurements();
  const auto at = std::ranges::lower_bound(list, PlaceOf(measurement), {}, PlaceOf);
  if (at != list.end() && PlaceOf(*at) == PlaceOf(measurement)) {
    *at = std::move(measurement);
    return;
  }
  const auto index = at - list.begin();
  *list.Add() = std::move(measurement);
  std::rotate(list.begin() + index, list.end() - 1, list.end());
}

void Start(Trial& trial, SysTime now) {
  trial.set_state(Trial::ACTIVE);
  *trial.mutable_start_time() = wire::ToProto(now);
}

void SetElapsed(const Trial& trial, Measurement& measurement, SysTime now) {
  if (measurement.has_elapsed_time() || !trial.has_start_time()) return;
  const std::chrono::nanoseconds elapsed = now - wire::FromProto(trial.start_time());
  *measurement.mutable_elapsed_time() = wire::ToProto(std::max(elapsed, std::chrono::nanoseconds{}));
}

/// The first of the study's metrics that is missing in the measurement; null if it has all.
const std::string* LackedMetric(const tuning::StudySpec& spec, const Measurement& measurement) {
  for (const tuning::Objective& metric : spec.metrics) {
    const auto& given = measurement.metrics();
    if (std::ranges::find(given, metric.name, &Measurement::Metric::metric) == given.end())
      return &metric.name;
  }
  return nullptr;
}

Status CheckFinal(const tuning::StudySpec& spec, const Measurement& measurement, const std::string& field) {
  TY_RETURN_IF_ERROR(CheckMeasurement(measurement, field));
  if (const std::string* lacked = LackedMetric(spec, measurement))
    return Invalid(field + ".metrics", "The study's metric '" + *lacked + "' is missing.");
  return {};
}

/// The last measurement that has all of the study's metrics becomes the final one; false if there is none.
bool TakeLastComplete(const tuning::StudySpec& spec, Trial& trial) {
  for (auto at = trial.measurements().rbegin(); at != trial.measurements().rend(); ++at) {
    if (LackedMetric(spec, *at) != nullptr) continue;
    *trial.mutable_final_measurement() = *at;
    return true;
  }
  return false;
}

/// Why TakeLastComplete() found none.
std::string NoFinalMeasurement(const tuning::StudySpec& spec, const Trial& trial) {
  if (trial.measurements().empty())
    return "The trial has no measurement that could become its final one: give one, or mark the trial as "
           "infeasible.";
  const Measurement& last = *trial.measurements().rbegin();
  std::string reported;
  for (const Measurement::Metric& metric : last.metrics()) {
    if (!reported.empty()) reported += ", ";
    reported += "'" + metric.metric() + "'";
  }
  return "No measurement of the trial has all metrics of the study: the last one lacks '" +
         *LackedMetric(spec, last) + "' and has " + reported + ".";
}

/// A result that is not finite makes the trial infeasible.
void End(const tuning::StudySpec& spec, Trial& trial, SysTime now) {
  const std::vector<double> values = ValuesOf(spec, trial.final_measurement());
  const bool is_finite = std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  if (!trial.trial_infeasible() && !is_finite) {
    trial.set_trial_infeasible(true);
    trial.set_infeasible_reason("The final measurement has a value that is not finite.");
  }
  trial.set_state(Trial::COMPLETED);
  *trial.mutable_end_time() = wire::ToProto(now);
}

}  // namespace

Result<Trial> MakeTrial(const tuning::StudySpec& spec, const Trial& asked, SysTime now) {
  TY_TRY(const tuning::Point point, PointOf(spec.space, asked));
  Trial trial;
  TY_RETURN_IF_ERROR(SetParameters(spec.space, point, trial));
  if (asked.measurements_size() > kMeasurementsMax)
    return Invalid("trial.measurements",
                   "There must not be more than " + std::to_string(kMeasurementsMax) + " measurements.");
  for (int i = 0; i < asked.measurements_size(); ++i) {
    TY_RETURN_IF_ERROR(
        CheckMeasurement(asked.measurements(i), "trial.measurements[" + std::to_string(i) + "]"));
    Insert(trial, asked.measurements(i));
  }
  if (asked.has_final_measurement()) {
    TY_RETURN_IF_ERROR(CheckFinal(spec, asked.final_measurement(), "trial.final_measurement"));
    *trial.mutable_final_measurement() = asked.final_measurement();
  }
  const bool has_result = asked.has_final_measurement() || asked.state() == Trial::COMPLETED;
  if (has_result && asked.state() != Trial::STATE_UNSPECIFIED && asked.state() != Trial::COMPLETED)
    return Invalid("trial.state", "A trial with a final measurement is COMPLETED.");
  if (has_result && !asked.has_final_measurement() && !TakeLastComplete(spec, trial))
    return Invalid("trial.final_measurement", NoFinalMeasurement(spec, trial));
  if (asked.state() == Trial::STOPPING)
    return Invalid("trial.state", "A trial cannot be STOPPING from the beginning.");
  trial.set_state(Trial::REQUESTED);
  if (has_result || asked.state() == Trial::ACTIVE || !trial.measurements().empty()) Start(trial, now);
  if (has_result) End(spec, trial, now);
  return trial;
}

void Assign(Trial& trial, const std::string& client_id, SysTime now) {
  trial.set_client_id(client_id);
  Start(trial, now);
}

Status AddMeasurement(Trial& trial, const ml::v1::AddTrialMeasurementRequest& asked, SysTime now) {
  if (trial.state() == Trial::COMPLETED)
    return Failed("The trial is COMPLETED: it takes no more measurements.");
  if (!asked.has_measurement()) return Invalid("measurement", "This field is required.");
  TY_RETURN_IF_ERROR(CheckMeasurement(asked.measurement(), "measurement"));
  if (trial.measurements_size() >= kMeasurementsMax)
    return Failed("The trial has " + std::to_string(kMeasurementsMax) + " measurements, and takes no more.");
  if (trial.state() == Trial::REQUESTED) Start(trial, now);
  Measurement measurement = asked.measurement();
  SetElapsed(trial, measurement, now);
  Insert(trial, std::move(measurement));
  return {};
}

Status Complete(const tuning::StudySpec& spec, Trial& trial, const ml::v1::CompleteTrialRequest& asked,
                SysTime now) {
  if (trial.state() == Trial::COMPLETED) return Failed("The trial is COMPLETED already.");
  if (!asked.trial_infeasible() && !asked.infeasible_reason().empty())
    return Invalid("infeasible_reason", "A reason should only be given for a trial that is infeasible.");
  if (asked.trial_infeasible()) {
    trial.set_trial_infeasible(true);
    trial.set_infeasible_reason(asked.infeasible_reason());
    End(spec, trial, now);
    return {};
  }
  if (asked.has_final_measurement()) {
    TY_RETURN_IF_ERROR(CheckFinal(spec, asked.final_measurement(), "final_measurement"));
    *trial.mutable_final_measurement() = asked.final_measurement();
    SetElapsed(trial, *trial.mutable_final_measurement(), now);
  } else if (!TakeLastComplete(spec, trial)) {
    return std::unexpected(FailedPrecondition(NoFinalMeasurement(spec, trial), "final_measurement"));
  }
  End(spec, trial, now);
  return {};
}

Status Stop(Trial& trial) {
  if (trial.state() == Trial::COMPLETED) return Failed("The trial is COMPLETED: it cannot be stopped.");
  trial.set_state(Trial::STOPPING);
  return {};
}

std::vector<std::size_t> OptimalTrials(const tuning::StudySpec& spec, std::span<const Trial> trials) {
  struct Candidate {
    std::size_t index;
    std::vector<double> values;  ///< the higher the better
  };
  const auto dominates = [](const Candidate& one, const Candidate& other) {
    bool better = false;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      if (one.values[i] < other.values[i]) return false;
      better = better || one.values[i] > other.values[i];
    }
    return better;
  };
  std::vector<Candidate> front;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].state() != Trial::COMPLETED || trials[i].trial_infeasible()) continue;
    Candidate candidate{i, ValuesOf(spec, trials[i].final_measurement())};
    if (!std::ranges::all_of(candidate.values, [](double value) { return std::isfinite(value); })) continue;
    for (std::size_t m = 0; m < spec.metrics.size(); ++m)
      if (!spec.metrics[m].maximize) candidate.values[m] = -candidate.values[m];
    const bool is_tie = spec.metrics.size() == 1 && !front.empty() && front[0].values == candidate.values;
    if (is_tie || std::ranges::any_of(front, [&](const Candidate& o) { return dominates(o, candidate); }))
      continue;
    std::erase_if(front, [&](const Candidate& other) { return dominates(candidate, other); });
    front.push_back(std::move(candidate));
  }
  std::vector<std::size_t> optimal;
  for (const Candidate& candidate : front) optimal.push_back(candidate.index);
  return optimal;
}

}  // namespace trainyard::studies
