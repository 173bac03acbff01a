#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

/// Reads squeue's output. Pure: any thread.

namespace trainyard::slurm {

/// The state of a Slurm job, as far as gangs need it. Pure: any thread. Source: docs/slurm.md, "States";
/// squeue(1), "JOB STATE CODES".
enum class JobState {
  kPending,           ///< PENDING, CONFIGURING, REQUEUED, REQUEUE_HOLD, SPECIAL_EXIT, RESV_DEL_HOLD: it waits
  kRunning,           ///< RUNNING, SIGNALING, STAGE_OUT, RESIZING
  kSuspended,         ///< SUSPENDED, STOPPED: it keeps its nodes and does nothing
  kEnding,            ///< COMPLETING: the outcome is not known yet
  kOver,              ///< COMPLETED, FAILED, LAUNCH_FAILED, RECONFIG_FAIL, REVOKED, or an unknown state
  kCancelled,         ///< CANCELLED
  kForgotten,         ///< CANCELLED, by Slurm itself: see MarkForgotten
  kCancelledAtStart,  ///< CANCELLED; by Slurm itself, unless all agents of the job have connected
  kTimeLimit,         ///< TIMEOUT
  kDeadline,          ///< DEADLINE
  kNodeLost,          ///< NODE_FAIL, BOOT_FAIL
  kPreempted,         ///< PREEMPTED
  kOutOfMemory,       ///< OUT_OF_MEMORY
};

/// `state` as %T of squeue and JobState= of scontrol print it.
[[nodiscard]] JobState ParseJobState(std::string_view state);

/// Whether the job has ended, or is about to.
[[nodiscard]] constexpr bool HasEnded(JobState state) {
  return state != JobState::kPending && state != JobState::kRunning && state != JobState::kSuspended;
}

/// Whether Slurm calls the job CANCELLED, whoever did it.
[[nodiscard]] constexpr bool IsCancelled(JobState state) {
  return state == JobState::kCancelled || state == JobState::kForgotten ||
         state == JobState::kCancelledAtStart;
}

/// The fields of each job: the format of `squeue -o`, the same in all versions. Names and comments of others'
/// jobs may have any character, so they come after the safe fields.
inline constexpr std::string_view kJobFormat = "%A|%T|%N|%S|%V|%j|%k|%r";

/// A Slurm job; each component of a heterogeneous job is one.
struct ListedJob {
  std::int64_t id = 0;
  std::string name;
  std::string comment;
  JobState state = JobState::kOver;
  std::string state_text;  ///< Slurm's name of the state
  std::string nodes;       ///< "node[1-3]"; empty: none yet
  std::string reason;      ///< why it waits, or why it ended
  SysTime started{};       ///< of a job that was cancelled: when Slurm started it; zero: not known
  SysTime submitted{};     ///< of a job that was cancelled
  friend bool operator==(const ListedJob&, const ListedJob&) = default;
};

/// Parses a list with its header. Lines that do not match kJobFormat come from names with line breaks and are
/// left out. kInternal: there is no header, so this is not a list.
[[nodiscard]] Result<std::vector<ListedJob>> ParseJobList(std::string_view lines);

/// When the controller began to run, from what `scontrol show config` printed in UTC. nullopt: it does not
/// say.
[[nodiscard]] std::optional<SysTime> ParseControllerStart(std::string_view printed);

/// Whether `job` is cancelled, and may have been by Slurm itself soon before `now`: only then is it worth
/// asking since when the controller runs.
[[nodiscard]] bool MayBeCancelledBySlurm(const ListedJob& job, SysTime now);

/// Marks the jobs that Slurm itself has cancelled, or may have. A controller that is killed forgets the
/// changes of its last seconds. It then starts a job that runs a second time, or gives the job's id to
/// another one. The node refuses the start, because that id runs there or was just aborted, and cancels the
/// job (slurmd's _launch_job_fail, seen with 22.05). A job that was submitted before its controller began,
/// and started soon afterwards, becomes kForgotten; one that was submitted later, kCancelledAtStart.
void MarkForgotten(std::span<ListedJob> jobs, SysTime controller_start);

}  // namespace trainyard::slurm
