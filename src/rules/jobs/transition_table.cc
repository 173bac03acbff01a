#include "rules/jobs/transition_table.h"

#include <algorithm>
#include <iterator>

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using ml::v1::Job;

constexpr Transition kTransitions[] = {
    {Stage::kNone, Event::kCreated, Stage::kQueued},

    {Stage::kQueued, Event::kAdmitted, Stage::kPreparing},
    {Stage::kQueued, Event::kCancelRequested, Stage::kCancelling},
    {Stage::kQueued, Event::kPatched, Stage::kQueued},
    {Stage::kQueued, Event::kPolicySet, Stage::kQueued},
    {Stage::kQueued, Event::kImagesResolved, Stage::kQueued},
    {Stage::kQueued, Event::kTrialCreated, Stage::kQueued},
    {Stage::kQueued, Event::kTrialEnded, Stage::kQueued},
    {Stage::kQueued, Event::kSpaceExhausted, Stage::kQueued},
    {Stage::kQueued, Event::kConcluded, Stage::kFinishing},

    {Stage::kPreparing, Event::kLaunched, Stage::kPreparing},
    {Stage::kPreparing, Event::kRunning, Stage::kRunning},
    {Stage::kPreparing, Event::kReplicaEnded, Stage::kPreparing},
    {Stage::kPreparing, Event::kRestartDecided, Stage::kPreparing},
    {Stage::kPreparing, Event::kRetryDecided, Stage::kRetrying},
    {Stage::kPreparing, Event::kRevoked, Stage::kRetrying},
    {Stage::kPreparing, Event::kCancelRequested, Stage::kCancelling},
    {Stage::kPreparing, Event::kConcluded, Stage::kFinishing},
    {Stage::kPreparing, Event::kPatched, Stage::kPreparing},
    {Stage::kPreparing, Event::kPolicySet, Stage::kPreparing},
    {Stage::kPreparing, Event::kTrialCreated, Stage::kPreparing},
    {Stage::kPreparing, Event::kTrialEnded, Stage::kPreparing},
    {Stage::kPreparing, Event::kSpaceExhausted, Stage::kPreparing},

    {Stage::kRunning, Event::kLaunched, Stage::kRunning},
    {Stage::kRunning, Event::kReplicaEnded, Stage::kRunning},
    {Stage::kRunning, Event::kRestartDecided, Stage::kRunning},
    {Stage::kRunning, Event::kMaintenanceRequested, Stage::kRunning},
    {Stage::kRunning, Event::kRetryDecided, Stage::kRetrying},
    {Stage::kRunning, Event::kRevoked, Stage::kRetrying},
    {Stage::kRunning, Event::kCancelRequested, Stage::kCancelling},
    {Stage::kRunning, Event::kConcluded, Stage::kFinishing},
    {Stage::kRunning, Event::kPatched, Stage::kRunning},
    {Stage::kRunning, Event::kPolicySet, Stage::kRunning},
    {Stage::kRunning, Event::kTrialCreated, Stage::kRunning},
    {Stage::kRunning, Event::kTrialEnded, Stage::kRunning},
    {Stage::kRunning, Event::kSpaceExhausted, Stage::kRunning},

    {Stage::kRetrying, Event::kReplicaEnded, Stage::kRetrying},
    {Stage::kRetrying, Event::kRevoked, Stage::kRetrying},
    {Stage::kRetrying, Event::kAdmitted, Stage::kRetrying},
    {Stage::kRetrying, Event::kRetryStarted, Stage::kResumed},
    {Stage::kRetrying, Event::kCancelRequested, Stage::kCancelling},
    {Stage::kRetrying, Event::kPatched, Stage::kRetrying},
    {Stage::kRetrying, Event::kPolicySet, Stage::kRetrying},

    {Stage::kFinishing, Event::kReplicaEnded, Stage::kFinishing},
    {Stage::kFinishing, Event::kRevoked, Stage::kFinishing},
    {Stage::kFinishing, Event::kCancelRequested, Stage::kFinishing, true},
    {Stage::kFinishing, Event::kEnded, Stage::kEnded},
    {Stage::kFinishing, Event::kPatched, Stage::kFinishing},
    {Stage::kFinishing, Event::kPolicySet, Stage::kFinishing},
    {Stage::kFinishing, Event::kTrialEnded, Stage::kFinishing},
    {Stage::kFinishing, Event::kTrialMeasured, Stage::kFinishing},

    {Stage::kCancelling, Event::kReplicaEnded, Stage::kCancelling},
    {Stage::kCancelling, Event::kRevoked, Stage::kCancelling},
    {Stage::kCancelling, Event::kCancelRequested, Stage::kCancelling, true},
    {Stage::kCancelling, Event::kEnded, Stage::kEnded},
    {Stage::kCancelling, Event::kPatched, Stage::kCancelling},
    {Stage::kCancelling, Event::kPolicySet, Stage::kCancelling},
    {Stage::kCancelling, Event::kTrialEnded, Stage::kCancelling},
    {Stage::kCancelling, Event::kTrialMeasured, Stage::kCancelling},

    {Stage::kEnded, Event::kPatched, Stage::kEnded},
    {Stage::kEnded, Event::kPolicySet, Stage::kEnded},
};

}  // namespace

std::span<const Transition> Transitions() { return kTransitions; }

const Transition* FindTransition(Stage from, Event::KindCase event) {
  const auto* found = std::ranges::find_if(
      kTransitions, [&](const Transition& row) { return row.from == from && row.event == event; });
  return found == std::end(kTransitions) ? nullptr : found;
}

Stage StageOf(const control::v1::JobRecord& record) {
  if (record.revision() == 0) return Stage::kNone;
  if (record.job().has_end_time()) return Stage::kEnded;
  if (record.outcome() == Job::CANCELLED) return Stage::kCancelling;
  if (record.outcome() != Job::STATE_UNSPECIFIED) return Stage::kFinishing;
  if (record.retrying()) return Stage::kRetrying;
  if (record.job().state() == Job::PREPARING) return Stage::kPreparing;
  return record.job().state() == Job::RUNNING ? Stage::kRunning : Stage::kQueued;
}

std::string_view StageName(Stage stage) {
  switch (stage) {
    case Stage::kNone: return "None";
    case Stage::kQueued: return "Queued";
    case Stage::kPreparing: return "Preparing";
    case Stage::kRunning: return "Running";
    case Stage::kRetrying: return "Retrying";
    case Stage::kFinishing: return "Finishing";
    case Stage::kCancelling: return "Cancelling";
    case Stage::kEnded: return "Ended";
    case Stage::kResumed: return "Resumed";
  }
  return "";
}

std::string_view EventName(Event::KindCase event) {
  switch (event) {
    case Event::kCreated: return "Created";
    case Event::kAdmitted: return "Admitted";
    case Event::kRevoked: return "Revoked";
    case Event::kLaunched: return "Launched";
    case Event::kRunning: return "Running";
    case Event::kReplicaEnded: return "ReplicaEnded";
    case Event::kRestartDecided: return "RestartDecided";
    case Event::kRetryDecided: return "RetryDecided";
    case Event::kRetryStarted: return "RetryStarted";
    case Event::kCancelRequested: return "CancelRequested";
    case Event::kConcluded: return "Concluded";
    case Event::kEnded: return "Ended";
    case Event::kPatched: return "Patched";
    case Event::kPolicySet: return "PolicySet";
    case Event::kMaintenanceRequested: return "MaintenanceRequested";
    case Event::kTrialCreated: return "TrialCreated";
    case Event::kTrialEnded: return "TrialEnded";
    case Event::kSpaceExhausted: return "SpaceExhausted";
    case Event::kTrialMeasured: return "TrialMeasured";
    case Event::kImagesResolved: return "ImagesResolved";
    case Event::KIND_NOT_SET: return "(none)";
  }
  return "";
}

}  // namespace trainyard::jobs
