#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// squeue's answers. Pure: any thread.

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

/// What is asked for of each job: the format of `squeue -o`, the same in all versions. Names and comments of
/// others' jobs may have any character, so they stand behind what has not.
inline constexpr std::string_view kJobFormat = "%A|%T|%N|%j|%k|%r";

/// A job of Slurm; of a heterogeneous one each component is one.
struct ListedJob {
  std::int64_t id = 0;
  std::string name;
  std::string comment;
  JobState state = JobState::kOver;
  std::string state_text;  ///< as Slurm says it
  std::string nodes;       ///< "node[1-3]"; empty: none yet
  std::string reason;      ///< why it waits, or ended
  friend bool operator==(const ListedJob&, const ListedJob&) = default;
};

/// The jobs of a list with its header. Lines that are none of kJobFormat belong to names with line breaks:
/// they are left out. kInternal: it has no header, so it is no list.
[[nodiscard]] Result<std::vector<ListedJob>> ParseJobList(std::string_view lines);

}  // namespace trainyard::slurm
