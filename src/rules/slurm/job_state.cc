#include "rules/slurm/job_state.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainyard::slurm {

namespace {

using Row = std::pair<std::string_view, JobState>;
constexpr std::array kStates{
    Row{"PENDING", JobState::kPending},          Row{"CONFIGURING", JobState::kPending},
    Row{"REQUEUED", JobState::kPending},         Row{"REQUEUE_FED", JobState::kPending},
    Row{"REQUEUE_HOLD", JobState::kPending},     Row{"SPECIAL_EXIT", JobState::kPending},
    Row{"RESV_DEL_HOLD", JobState::kPending},    Row{"RUNNING", JobState::kRunning},
    Row{"SIGNALING", JobState::kRunning},        Row{"STAGE_OUT", JobState::kRunning},
    Row{"RESIZING", JobState::kRunning},         Row{"SUSPENDED", JobState::kSuspended},
    Row{"STOPPED", JobState::kSuspended},        Row{"COMPLETING", JobState::kEnding},
    Row{"CANCELLED", JobState::kCancelled},      Row{"TIMEOUT", JobState::kTimeLimit},
    Row{"DEADLINE", JobState::kDeadline},        Row{"NODE_FAIL", JobState::kNodeLost},
    Row{"BOOT_FAIL", JobState::kNodeLost},       Row{"PREEMPTED", JobState::kPreempted},
    Row{"OUT_OF_MEMORY", JobState::kOutOfMemory}};

}  // namespace

JobState ParseJobState(std::string_view state) {
  const auto found = std::ranges::find(kStates, state, &Row::first);
  return found == kStates.end() ? JobState::kOver : found->second;
}

}  // namespace trainyard::slurm
