
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/wire/time.h"
#include "rules/cluster/scale_tier.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/images.h"
#include "rules/jobs/peers.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/service_lines.h"
#include "rules/jobs/transition_table.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using control::v1::ReplicaRecord;
using ml::v1::HyperparameterOutput;
using ml::v1::Job;

Error Refuse(const JobRecord& record, const Event& event, std::string why) {
  std::string text = "a job that is ";
  text += StageName(StageOf(record));
  text += " cannot have the event ";
  text += EventName(event.kind_case());
  if (!why.empty()) text += ": " + why;
  return FailedPrecondition(std::move(text));
}

ReplicaRecord* Find(JobRecord& record, const replica::v1::ReplicaId& id) {
  for (ReplicaRecord& replica : *record.mutable_replicas()) {
    if (replica.id().type() == id.type() && replica.id().index() == id.index()) return &replica;
  }
  return nullptr;
}

/// Hours from startTime to endTime times the machines' units, truncated to two decimals, but never to zero:
/// zero is not printed, and clients of Google's service read the field for every job that ran. Source: spec
/// cluster.md section 8.
double ConsumedUnits(const Job& job) {
  if (!job.has_start_time()) return 0;
  const auto replicas = cluster::Expand(job.training_input());
  if (!replicas) return 0;
  const std::chrono::duration<double, std::ratio<3600>> hours =
      wire::FromProto(job.end_time()) - wire::FromProto(job.start_time());
  constexpr double kHundredths = 100;
  constexpr double kRoundingError = 1e-6;  // 144.70 is 144.69999... in binary
  const double units = std::max(0.0, hours.count()) * cluster::UnitsPerHour(*replicas);
  if (units <= 0) return 0;
  return std::max(1.0, std::floor(units * kHundredths + kRoundingError)) / kHundredths;
}

// The changes of each event in addition to the state. An error means that the event does not fit the record.

Status Change(JobRecord& record, const Event& event, const Event::Created& created) {
  if (record.revision() != 0) return std::unexpected(Refuse(record, event, "it is there already"));
  record = created.record();
  record.set_revision(0);
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::Admitted& admitted) {
  const replica::v1::Grant& grant = admitted.grant();
  if (record.has_tuning()) {  // its trials have the resources
    *record.mutable_job()->mutable_start_time() = event.time();
    return {};
  }
  if (record.reserved()) return std::unexpected(Refuse(record, event, "it has room already"));
  if (grant.try_number() != record.try_number() + 1)
    return std::unexpected(Refuse(record, event, "the grant is not for its next try"));
  if (grant.slots_size() != record.replicas_size())
    return std::unexpected(Refuse(record, event, "every replica needs one slot"));
  for (int i = 0; i < grant.slots_size(); ++i) *record.mutable_replicas(i)->mutable_slot() = grant.slots(i);
  record.set_try_number(grant.try_number());
  record.set_reserved(true);
  if (!admitted.runtime_version().empty()) record.set_runtime_version(admitted.runtime_version());
  for (const std::string& note : grant.notes()) record.add_notes(note);
  if (!record.job().has_start_time()) *record.mutable_job()->mutable_start_time() = event.time();
  return {};
}

/// Not counted as a retry: the job did nothing wrong.
Status Change(JobRecord& record, const Event& event, const Event::Revoked& revoked) {
  if (!record.reserved() || revoked.try_number() != record.try_number())
    return std::unexpected(Refuse(record, event, "it has no such room"));
  record.set_reserved(false);
  // The slots are kept until there are new ones, so that remains of the attempts can be found.
  for (ReplicaRecord& replica : *record.mutable_replicas()) replica.clear_endpoint();
  if (record.outcome() == Job::STATE_UNSPECIFIED) record.set_retrying(true);
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::Launched& launched) {
  if (launched.replicas().empty()) return std::unexpected(Refuse(record, event, "no replica is named"));
  for (const replica::v1::ReplicaId& id : launched.replicas()) {
    ReplicaRecord* replica = Find(record, id);
    if (replica == nullptr || (replica->attempt() != 0 && !replica->restarting())) {
      return std::unexpected(
          Refuse(record, event, "the former attempt of " + cluster::TaskName(id) + " was not given up"));
    }
    replica->set_attempt(replica->attempt() + 1);
    replica->set_restarting(false);
    replica->set_maintenance(false);
    replica->clear_not_before();
    replica->clear_exit();
    replica->clear_ended_time();
  }
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::Running& running) {
  *record.mutable_running_time() = event.time();
  for (const replica::v1::Endpoint& endpoint : running.endpoints()) {
    ReplicaRecord* replica = Find(record, endpoint.replica());
    if (replica == nullptr) return std::unexpected(Refuse(record, event, "it has no such replica"));
    *replica->mutable_endpoint() = endpoint;
  }
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::ReplicaEnded& ended) {
  ReplicaRecord* replica = Find(record, ended.replica());
  if (replica == nullptr || ended.attempt() == 0 || replica->attempt() != ended.attempt() ||
      replica->has_exit() || replica->restarting()) {
    return std::unexpected(Refuse(record, event, "it is not the living attempt of a replica"));
  }
  *replica->mutable_exit() = ended.exit();
  *replica->mutable_ended_time() = event.time();
  NoteLostLog(record, *replica);
  if (ended.has_endpoint() && record.reserved()) *replica->mutable_endpoint() = ended.endpoint();
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::RestartDecided& decided) {
  ReplicaRecord* replica = Find(record, decided.replica());
  if (replica == nullptr || !replica->has_exit() || replica->restarting()) {
    return std::unexpected(Refuse(record, event, "the replica has not ended"));
  }
  if (CountsAsRestart(*replica)) replica->set_restarts(replica->restarts() + 1);
  *replica->mutable_former() = FormerEndOf(*replica);
  replica->set_restarting(true);
  if (decided.has_not_before()) *replica->mutable_not_before() = decided.not_before();
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::MaintenanceRequested& requested) {
  ReplicaRecord* replica = Find(record, requested.replica());
  if (replica == nullptr || replica->attempt() != requested.attempt() || replica->attempt() == 0 ||
      replica->has_exit() || replica->maintenance()) {
    return std::unexpected(Refuse(record, event, "it is not the living attempt of a replica"));
  }
  replica->set_maintenance(true);
  return {};
}

Status Change(JobRecord& record, const Event&, const Event::PolicySet& set) {
  *record.mutable_iam_policy() = set.policy();
  record.set_policy_has_creator(set.has_creator());
  *record.mutable_policy_account_ids() = set.account_ids();
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::RetryDecided& decided) {
  if (record.retrying()) return std::unexpected(Refuse(record, event, "it is retrying already"));
  record.set_retrying(true);
  if (!decided.uncounted()) record.set_retries(record.retries() + 1);
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::RetryStarted&) {
  if (!record.retrying()) return std::unexpected(Refuse(record, event, "no retry was decided"));
  if (!record.reserved()) return std::unexpected(Refuse(record, event, "it has no room"));
  record.set_retrying(false);
  for (ReplicaRecord& replica : *record.mutable_replicas()) {
    replica.set_restarts(0);
    replica.set_restarting(replica.attempt() != 0);
    replica.clear_not_before();
    replica.clear_former();
  }
  return {};
}

Status Change(JobRecord& record, const Event&, const Event::CancelRequested& cancel) {
  record.mutable_job()->set_error_message(cancel.reason());
  record.mutable_job()->clear_job_position();
  record.set_outcome(Job::CANCELLED);
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::Concluded& concluded) {
  if (concluded.outcome() != Job::SUCCEEDED && concluded.outcome() != Job::FAILED) {
    return std::unexpected(Refuse(record, event, "that is no outcome"));
  }
  if (concluded.stopped_early() && !record.has_trial())
    return std::unexpected(Refuse(record, event, "only trials are stopped early"));
  record.set_outcome(concluded.outcome());
  record.mutable_job()->set_error_message(concluded.error_message());
  if (concluded.stopped_early()) record.mutable_trial()->set_stopped_early(true);
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::Ended&) {
  Job& job = *record.mutable_job();
  job.set_state(record.outcome());
  job.set_error_message(WithLostLogs(record, job.error_message()));
  *job.mutable_end_time() = event.time();
  const double units =
      record.has_tuning() ? 0 : ConsumedUnits(job);  // a tuning job consumes what its trials consume
  if (units > 0) job.mutable_training_output()->set_consumed_ml_units(units);
  SetModelPath(record);
  return {};
}

Status Change(JobRecord& record, const Event&, const Event::Patched& patched) {
  *record.mutable_job()->mutable_labels() = patched.labels();
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::ImagesResolved& resolved) {
  if (resolved.images().empty()) return std::unexpected(Refuse(record, event, "no image is named"));
  for (const control::v1::ImageRecord& found : resolved.images()) {
    const auto known =
        std::ranges::find(*record.mutable_images(), found.image(),
                          [](const auto& image) -> const std::string& { return image.image(); });
    if (known == record.mutable_images()->end() || !IsUnresolved(*known) || IsUnresolved(found))
      return std::unexpected(Refuse(record, event, found.image() + " is not to be resolved"));
    *known = found;
  }
  for (const std::string& note : resolved.notes()) record.add_notes(note);
  return {};
}

bool HasEnded(const HyperparameterOutput& trial) { return trial.state() != HyperparameterOutput::QUEUED; }

/// Whether `a` is a better trial than `b`.
bool IsBetter(const JobRecord& record, const HyperparameterOutput& a, const HyperparameterOutput& b) {
  const double x = a.final_metric().objective_value();
  const double y = b.final_metric().objective_value();
  return Maximizes(record) ? x > y : x < y;
}

/// The record keeps the trials that have not ended, as QUEUED, and the best of the ended ones. The others are
/// in the store only, so the record of a job with ten thousand trials is as short as that of one with ten.
Status Change(JobRecord& record, const Event& event, const Event::TrialCreated& created) {
  control::v1::TuningRecord& tuning = *record.mutable_tuning();
  if (created.trial_id() != std::to_string(tuning.trials_created() + 1))
    return std::unexpected(Refuse(record, event, "its number is not the next one"));
  tuning.set_trials_created(tuning.trials_created() + 1);
  HyperparameterOutput& trial = *record.mutable_job()->mutable_training_output()->add_trials();
  trial.set_trial_id(created.trial_id());
  *trial.mutable_hyperparameters() = created.hyperparameters();
  trial.set_state(HyperparameterOutput::QUEUED);
  return {};
}

Status Count(const Event::TrialEnded& ended, control::v1::TuningRecord& tuning) {
  switch (ended.state()) {
    case HyperparameterOutput::SUCCEEDED:
      tuning.set_trials_succeeded(tuning.trials_succeeded() + 1);
      return {};
    case HyperparameterOutput::FAILED: tuning.set_trials_failed(tuning.trials_failed() + 1); return {};
    case HyperparameterOutput::CANCELLED:
      tuning.set_trials_cancelled(tuning.trials_cancelled() + 1);
      return {};
    default: return std::unexpected(FailedPrecondition("that is no state to end in"));
  }
}

Status Change(JobRecord& record, const Event& event, const Event::TrialEnded& ended) {
  ml::v1::TrainingOutput& output = *record.mutable_job()->mutable_training_output();
  auto& trials = *output.mutable_trials();
  const auto trial = std::ranges::find_if(trials, [&](const HyperparameterOutput& known) {
    return known.trial_id() == ended.trial_id() && !HasEnded(known);
  });
  if (trial == trials.end()) return std::unexpected(Refuse(record, event, "no such trial runs"));
  if (Status counted = Count(ended, *record.mutable_tuning()); !counted)
    return std::unexpected(Refuse(record, event, counted.error().message));
  output.set_completed_trial_count(record.tuning().trials_succeeded());
  trial->set_state(ended.state());
  trial->set_is_trial_stopped_early(ended.stopped_early());
  if (ended.has_final_metric()) *trial->mutable_final_metric() = ended.final_metric();
  const auto best = std::ranges::find_if(
      trials, [&](const HyperparameterOutput& known) { return &known != &*trial && HasEnded(known); });
  const bool is_best = ended.state() == HyperparameterOutput::SUCCEEDED && ended.has_final_metric() &&
                       (best == trials.end() || IsBetter(record, *trial, *best));
  if (!is_best) {
    trials.erase(trial);
  } else if (best != trials.end()) {
    trials.erase(best);
  }
  return {};
}

Status Change(JobRecord& record, const Event&, const Event::SpaceExhausted&) {
  record.mutable_tuning()->set_exhausted(true);
  return {};
}

Status Change(JobRecord& record, const Event& event, const Event::TrialMeasured& measured) {
  if (!record.has_trial()) return std::unexpected(Refuse(record, event, "it is no trial"));
  *record.mutable_trial()->mutable_report() = measured.report();
  record.mutable_trial()->set_no_metric(measured.no_metric());
  for (ReplicaRecord& replica : *record.mutable_replicas()) {
    if (replica.has_exit()) replica.mutable_exit()->clear_metrics();  // the trial's report has them now
  }
  return {};
}

Status ChangeTuning(JobRecord& record, const Event& event) {
  if (!record.has_tuning()) return std::unexpected(Refuse(record, event, "it is no tuning job"));
  if (event.has_trial_created()) return Change(record, event, event.trial_created());
  if (event.has_trial_ended()) return Change(record, event, event.trial_ended());
  return Change(record, event, event.space_exhausted());
}

Status Change(JobRecord& record, const Event& event) {
  switch (event.kind_case()) {
    case Event::kCreated: return Change(record, event, event.created());
    case Event::kAdmitted: return Change(record, event, event.admitted());
    case Event::kRevoked: return Change(record, event, event.revoked());
    case Event::kLaunched: return Change(record, event, event.launched());
    case Event::kRunning: return Change(record, event, event.running());
    case Event::kReplicaEnded: return Change(record, event, event.replica_ended());
    case Event::kRestartDecided: return Change(record, event, event.restart_decided());
    case Event::kRetryDecided: return Change(record, event, event.retry_decided());
    case Event::kRetryStarted: return Change(record, event, event.retry_started());
    case Event::kCancelRequested: return Change(record, event, event.cancel_requested());
    case Event::kConcluded: return Change(record, event, event.concluded());
    case Event::kEnded: return Change(record, event, event.ended());
    case Event::kPatched: return Change(record, event, event.patched());
    case Event::kPolicySet: return Change(record, event, event.policy_set());
    case Event::kMaintenanceRequested: return Change(record, event, event.maintenance_requested());
    case Event::kTrialCreated:
    case Event::kTrialEnded:
    case Event::kSpaceExhausted: return ChangeTuning(record, event);
    case Event::kTrialMeasured: return Change(record, event, event.trial_measured());
    case Event::kImagesResolved: return Change(record, event, event.images_resolved());
    case Event::KIND_NOT_SET: break;
  }
  return std::unexpected(Refuse(record, event, ""));
}

void SetState(Job& job, Stage stage) {
  switch (stage) {
    case Stage::kQueued: return job.set_state(Job::QUEUED);
    case Stage::kPreparing: return job.set_state(Job::PREPARING);
    case Stage::kRunning: return job.set_state(Job::RUNNING);
    case Stage::kCancelling: return job.set_state(Job::CANCELLING);
    case Stage::kNone:
    case Stage::kRetrying:
    case Stage::kFinishing:
    case Stage::kResumed:
    case Stage::kEnded: return;  // unchanged, or set by the event
  }
}

}  // namespace

Result<JobRecord> Apply(const JobRecord& record, const Event& event) {
  const std::int64_t seq = record.revision() + 1;
  if (event.seq() != 0 && event.seq() != seq) {
    return std::unexpected(Refuse(
        record, event, "it is number " + std::to_string(event.seq()) + ", not " + std::to_string(seq)));
  }
  const Transition* transition = FindTransition(StageOf(record), event.kind_case());
  if (transition == nullptr) return std::unexpected(Refuse(record, event, ""));
  JobRecord after = record;
  if (!transition->ignored) {
    TY_RETURN_IF_ERROR(Change(after, event));
    SetState(*after.mutable_job(), transition->to);
  }
  after.set_revision(seq);
  TY_CHECK(transition->to == StageOf(after) || transition->to == Stage::kResumed);
  return after;
}

}  // namespace trainyard::jobs
