#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rules/placement/gang.h"

/// The explanations for waiting gangs. Pure: any thread.
namespace trainyard::placement {

/// Why a job loses its resources, or will never get any. docs/lifecycle.md.
enum class RoomEnd {
  kLost,         ///< a node failed, or the processes there ended
  kPreempted,    ///< preempted by other jobs
  kTimeLimit,    ///< the cluster's limit for running
  kDeadline,     ///< it waited for too long
  kOutOfMemory,  ///< the cluster ended it because it exceeded its memory
  kCancelled,    ///< it was cancelled in the cluster
  kCannotStart,  ///< what it asked for cannot be started: its image cannot be pulled
};

/// The resource that a gang waits for.
struct Shortage {
  std::string reason;   ///< one sentence: what it waits for
  std::string unblock;  ///< one sentence: what would end the wait
  bool never = false;   ///< it cannot start as it is, even if it waits
  friend bool operator==(const Shortage&, const Shortage&) = default;
};

/// A gang's place in the queue and what it waits for.
struct Wait {
  std::int64_t position = 0;  ///< 1 for the first one of its line: jobPosition
  std::string reason;         ///< as in Shortage
  std::string unblock;
  bool is_turn = false;  ///< it waits only for its turn: reason and position change as earlier gangs leave
  bool never = false;    ///< as in Shortage
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// A job that others wait for.
struct JobLabel {
  std::string project{};
  std::string job_id{};
  friend auto operator<=>(const JobLabel&, const JobLabel&) = default;
};
[[nodiscard]] inline JobLabel LabelOf(const Gang& gang) {
  return {.project = gang.project, .job_id = gang.job_id};
}

/// How reasons name jobs and projects. If `others` is false, names of other projects' jobs are not shown.
struct Naming {
  bool others = true;
  /// "job_a"; "a job of another project".
  [[nodiscard]] std::string Job(const JobLabel& job, const std::string& viewer) const;
  /// "project research"; "another project".
  [[nodiscard]] std::string Project(const std::string& project, const std::string& viewer) const;
  /// "job_a, job_b and 3 more"; "job_a and 2 jobs of other projects".
  [[nodiscard]] std::string Jobs(std::span<const JobLabel> jobs, const std::string& viewer) const;
};

/// "It starts when job_a has ended.", or the corresponding sentence for several jobs.
[[nodiscard]] std::string WhenTheyEnd(std::span<const JobLabel> jobs, const std::string& viewer,
                                      const Naming& naming);

}  // namespace trainyard::placement
