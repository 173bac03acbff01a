#include "rules/jobs/service_lines.h"

#include <algorithm>

#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using logging::v2::LogEntry;
using ml::v1::HyperparameterOutput;
using ml::v1::Job;
using Lines = std::vector<ServiceLine>;

std::string NameOf(const JobRecord& trial) { return "Trial " + trial.trial().trial_id(); }

/// The best trial so far: the only ended trial that the record keeps.
Lines OnTrialEnded(const JobRecord& after, const Event::TrialEnded& ended) {
  for (const HyperparameterOutput& trial : after.job().training_output().trials()) {
    if (trial.trial_id() != ended.trial_id()) continue;
    return {InfoLine("Trial " + trial.trial_id() +
                     " is the best so far: " + MetricsText(after, trial.final_metric()) + " (" +
                     ParametersText(after, trial.hyperparameters()) + ")")};
  }
  return {};
}

Lines OnTrialAdmitted(const JobRecord& after) {
  Lines lines;
  for (const std::string& note : after.notes()) lines.push_back(InfoLine(note));
  lines.push_back(InfoLine(NameOf(after) + " is preparing."));
  return lines;
}

Lines OnTrialConcluded(const JobRecord& after, const Event::Concluded& concluded) {
  if (concluded.stopped_early())
    return {InfoLine(NameOf(after) + " is stopped early. " + concluded.error_message())};
  if (concluded.outcome() != Job::FAILED) return {};
  return {{LogEntry::ERROR, concluded.error_message()}};
}

Lines OnTrialMeasured(const JobRecord& after) {
  const bool explains = !after.trial().no_metric().empty() && after.outcome() == Job::SUCCEEDED;
  return explains ? Lines{WarningLine(after.trial().no_metric())} : Lines{};
}

Lines OnEndOfTrial(const JobRecord& after) {
  switch (after.job().state()) {
    case Job::SUCCEEDED: {
      const auto metric = FinalMetric(after, after.trial().report());
      if (!metric)
        return {InfoLine(NameOf(after) + (MetricTags(after).size() > 1
                                              ? " completed without a value of every metric."
                                              : " completed without a metric."))};
      return {InfoLine(NameOf(after) + " completed: " + MetricsText(after, *metric) + " at step " +
                       std::to_string(metric->training_step()) + ".")};
    }
    case Job::FAILED: return {InfoLine(NameOf(after) + " failed.")};
    default: return {InfoLine(NameOf(after) + " was cancelled.")};
  }
}

std::optional<Lines> OfTrial(const JobRecord& after, const Event& event) {
  switch (event.kind_case()) {
    case Event::kCreated:
      return Lines{
          InfoLine(NameOf(after) + " is queued: " + ParametersText(after, after.trial().hyperparameters()))};
    case Event::kAdmitted: return OnTrialAdmitted(after);
    case Event::kRunning: return Lines{InfoLine(NameOf(after) + " is running.")};
    case Event::kCancelRequested: return Lines{};  // the tuning job has logged it
    case Event::kConcluded: return OnTrialConcluded(after, event.concluded());
    case Event::kTrialMeasured: return OnTrialMeasured(after);
    case Event::kEnded: return OnEndOfTrial(after);
    case Event::kLaunched:
    case Event::kRevoked:
    case Event::kReplicaEnded:
    case Event::kRestartDecided:
    case Event::kRetryDecided:
    case Event::kRetryStarted:
    case Event::kPatched:
    case Event::kMaintenanceRequested:
    case Event::kPolicySet:
    case Event::kTrialCreated:
    case Event::kTrialEnded:
    case Event::kSpaceExhausted:
    case Event::kImagesResolved:
    case Event::KIND_NOT_SET: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Lines> TuningLinesFor(const JobRecord& after, const Event& event) {
  if (after.has_trial()) return OfTrial(after, event);
  if (event.has_trial_ended()) return OnTrialEnded(after, event.trial_ended());
  if (event.has_space_exhausted())
    return Lines{InfoLine("All points of the search space were tried: no further trial will start.")};
  return std::nullopt;
}

}  // namespace trainyard::jobs
