#include "rules/jobs/tuning_decide.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/overloaded.h"
#include "rules/jobs/time_limits.h"
#include "rules/jobs/transition_table.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using control::v1::TuningRecord;
using ml::v1::HyperparameterOutput;
using ml::v1::Job;

using Actions = std::vector<TuningAction>;

Actions Append(Event event) { return {AppendTuningEvent{std::move(event)}}; }

Event Conclude(Job::State outcome, std::string error_message) {
  Event event;
  event.mutable_concluded()->set_outcome(outcome);
  event.mutable_concluded()->set_error_message(std::move(error_message));
  return event;
}

Event Cancelled(const ObservedTrial& trial) {
  Event event;
  event.mutable_trial_ended()->set_trial_id(trial.trial_id);
  event.mutable_trial_ended()->set_state(HyperparameterOutput::CANCELLED);
  return event;
}

std::optional<Event> EndNews(const TuningObservation& seen) {
  for (const ObservedTrial& trial : seen.trials) {
    if (!trial.ended) continue;
    Event event;
    *event.mutable_trial_ended() = *trial.ended;
    return event;
  }
  return std::nullopt;
}

/// The job's state follows that of its most advanced trial.
std::optional<Event> Progress(const JobRecord& job, const TuningObservation& seen) {
  Event event;
  if (job.job().state() == Job::QUEUED && std::ranges::any_of(seen.trials, &ObservedTrial::admitted)) {
    event.mutable_admitted();
    return event;
  }
  if (job.job().state() == Job::PREPARING && std::ranges::any_of(seen.trials, &ObservedTrial::has_run)) {
    event.mutable_running();
    return event;
  }
  return std::nullopt;
}

std::string FailureText(const TuningObservation& seen) {
  if (!seen.first_failure) return "";
  const FailedTrial& failed = *seen.first_failure;
  return "The failed trial had parameters: " + failed.parameters +
         ". The trial's error message was: " + failed.error_message;
}

std::string FirstFailure(const TuningObservation& seen) {
  return "Hyperparameter Tuning Trial #" + (seen.first_failure ? seen.first_failure->trial_id : "1");
}

/// Why the failed trials make the job fail; empty: they do not. Source: spec section 8: the rule for
/// maxFailedTrials 0 is this server's, the first sentence is Google's.
std::string TooManyFailures(const JobRecord& job, const TuningObservation& seen) {
  const TuningRecord& tuning = job.tuning();
  const int limit = job.job().training_input().hyperparameters().max_failed_trials();
  const int failed = tuning.trials_failed();
  if (limit > 0) {
    if (failed < limit) return "";
    return std::to_string(failed) + (failed == 1 ? " trial has" : " trials have") +
           " failed, and maxFailedTrials is " + std::to_string(limit) + ". " + FirstFailure(seen) +
           " was the first to fail. " + FailureText(seen);
  }
  const int first = std::min(MaxParallelTrials(job), kFirstFailuresMax);
  if (tuning.trials_succeeded() == 0 && failed >= first) {
    return FirstFailure(seen) + " Failed before any other successful trials were completed. " +
           FailureText(seen);
  }
  if (2 * failed > MaxTrials(job)) {
    return "More than half of the trials failed: " + std::to_string(failed) + " of " +
           std::to_string(MaxTrials(job)) + ". " + FirstFailure(seen) + " was the first to fail. " +
           FailureText(seen);
  }
  return "";
}

bool IsThrough(const JobRecord& job, const TuningObservation& seen) {
  const bool no_more = job.tuning().exhausted() || job.tuning().trials_created() >= MaxTrials(job);
  return no_more && seen.trials.empty();
}

std::optional<Event> Outcome(const JobRecord& job, const TuningObservation& seen) {
  if (std::string why = TooManyFailures(job, seen); !why.empty())
    return Conclude(Job::FAILED, std::move(why));
  if (!seen.tuner_failure.empty() && seen.trials.empty()) {
    return Conclude(Job::FAILED, "The tuner could not propose the next trial: " + seen.tuner_failure +
                                     ". A job with resumePreviousJobId " + job.job().job_id() +
                                     " goes on from the trials so far.");
  }
  if (!IsThrough(job, seen)) return std::nullopt;
  if (job.tuning().trials_succeeded() == 0 && job.tuning().trials_failed() > 0) {
    return Conclude(Job::FAILED, "No trial succeeded. " + FirstFailure(seen) + " was the first to fail. " +
                                     FailureText(seen));
  }
  return Conclude(Job::SUCCEEDED, "");
}

void AddStarts(const TuningObservation& seen, Actions& actions) {
  for (const ObservedTrial& trial : seen.trials) {
    if (!trial.has_record) actions.emplace_back(StartTrial{trial.trial_id});
  }
}

void AddStops(const TuningObservation& seen, Actions& actions) {
  for (const ObservedTrial& trial : seen.trials) {
    if (trial.has_record && !trial.stop_early.empty() && !trial.stop_sent)
      actions.emplace_back(StopTrial{trial.trial_id, trial.stop_early});
  }
}

bool WaitsForRoom(const ObservedTrial& trial) { return !trial.admitted && !trial.ended; }

/// Adds the next trial if it is within the limit of parallel trials. While a trial waits for resources no
/// further point is chosen: it would be chosen long before it runs, with fewer results. A tuner that failed
/// is called again when a trial has ended.
void AddTrials(const JobRecord& job, const TuningObservation& seen, Actions& actions) {
  const int room = std::min(MaxParallelTrials(job) - static_cast<int>(seen.trials.size()),
                            MaxTrials(job) - job.tuning().trials_created());
  if (room <= 0 || job.tuning().exhausted() || !seen.tuner_failure.empty()) return;
  if (!seen.suggestions.empty()) {
    actions.emplace_back(AppendTuningEvent{seen.suggestions.front()});
  } else if (seen.nothing_left) {
    Event event;
    event.mutable_space_exhausted();
    actions.emplace_back(AppendTuningEvent{std::move(event)});
  } else if (!seen.suggesting && !std::ranges::any_of(seen.trials, WaitsForRoom)) {
    actions.emplace_back(SuggestTrials{room});
  }
}

void AddLimit(const JobRecord& job, Actions& actions) {
  const std::optional<TimeLimit> limit = NextTimeLimit(job);
  const bool appends = !actions.empty() && std::holds_alternative<AppendTuningEvent>(actions.back());
  if (limit && !appends) actions.emplace_back(WakeTuningAt{limit->time});
}

Actions ActionsOf(ImageStep step) {
  return std::visit(Overloaded{[](Event& event) { return Append(std::move(event)); },
                               [](ResolveImages resolve) { return Actions{resolve}; },
                               [](SysTime time) { return Actions{WakeTuningAt{time}}; },
                               [](AwaitImages) { return Actions{}; }},
                    step);
}

/// No trial is suggested before the images are known: all trials use the same.
Actions TrialActions(const JobRecord& job, const TuningObservation& seen, SysTime now) {
  if (std::optional<ImageStep> step = NextImageStep(job, seen.images, now))
    return ActionsOf(*std::move(step));
  Actions actions;
  AddStarts(seen, actions);
  AddStops(seen, actions);
  AddTrials(job, seen, actions);
  return actions;
}

Actions WhileLive(const JobRecord& job, const TuningObservation& seen, SysTime now) {
  if (std::optional<Event> progress = Progress(job, seen)) return Append(*std::move(progress));
  if (std::optional<Event> ended = EndNews(seen)) return Append(*std::move(ended));
  if (std::optional<Event> outcome = Outcome(job, seen)) return Append(*std::move(outcome));
  if (const std::optional<TimeLimit> limit = NextTimeLimit(job); limit && now >= limit->time) {
    Event event;
    event.mutable_cancel_requested()->set_reason(limit->reason);
    return Append(std::move(event));
  }
  Actions actions = TrialActions(job, seen, now);
  AddLimit(job, actions);
  return actions;
}

/// Cancels every trial that has not ended; the job ends when all have ended.
Actions WhileStopping(const TuningObservation& seen, const std::string& reason) {
  if (std::optional<Event> ended = EndNews(seen)) return Append(*std::move(ended));
  Actions actions;
  for (const ObservedTrial& trial : seen.trials) {
    if (!trial.has_record) return Append(Cancelled(trial));
    if (!trial.cancel_sent) actions.emplace_back(CancelTrial{trial.trial_id, reason});
  }
  if (!seen.trials.empty()) return actions;
  Event event;
  event.mutable_ended();
  return Append(std::move(event));
}

}  // namespace

std::vector<TuningAction> NextTuningActions(const JobRecord& job, const TuningObservation& seen,
                                            SysTime now) {
  TY_CHECK(job.has_tuning());
  switch (StageOf(job)) {
    case Stage::kQueued:
    case Stage::kPreparing:
    case Stage::kRunning: return WhileLive(job, seen, now);
    case Stage::kFinishing: return WhileStopping(seen, "The tuning job has failed.");
    case Stage::kCancelling: return WhileStopping(seen, job.job().error_message());
    case Stage::kRetrying:
    case Stage::kNone:
    case Stage::kEnded:
    case Stage::kResumed: return {};
  }
  return {};
}

}  // namespace trainyard::jobs
