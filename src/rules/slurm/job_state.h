#pragma once

#include <string_view>

namespace trainyard::slurm {

/// What the state of a job of Slurm means for a gang. Pure: any thread. Source: docs/slurm.md, "States";
/// squeue(1), "JOB STATE CODES".
enum class JobState {
  kPending,    ///< PENDING, CONFIGURING, REQUEUED, REQUEUE_HOLD, SPECIAL_EXIT, RESV_DEL_HOLD: it waits
  kRunning,    ///< RUNNING, SIGNALING, STAGE_OUT, RESIZING
  kSuspended,  ///< SUSPENDED, STOPPED: it holds its nodes and does nothing
  kEnding,     ///< COMPLETING: how is not known yet
  kOver,  ///< COMPLETED, FAILED, LAUNCH_FAILED, RECONFIG_FAIL, REVOKED, or a state that is not known here
  kCancelled,    ///< CANCELLED
  kTimeLimit,    ///< TIMEOUT
  kDeadline,     ///< DEADLINE
  kNodeLost,     ///< NODE_FAIL, BOOT_FAIL
  kPreempted,    ///< PREEMPTED
  kOutOfMemory,  ///< OUT_OF_MEMORY
};

/// `state` as %T of squeue and JobState= of scontrol print it.
[[nodiscard]] JobState ParseJobState(std::string_view state);

/// It has ended, or is about to.
[[nodiscard]] constexpr bool HasEnded(JobState state) {
  return state != JobState::kPending && state != JobState::kRunning && state != JobState::kSuspended;
}

}  // namespace trainyard::slurm
