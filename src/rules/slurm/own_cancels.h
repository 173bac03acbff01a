#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <span>

#include "base/clock.h"
#include "rules/slurm/job_list.h"

namespace trainyard::slurm {

/// Which jobs we cancelled, so that nobody else is taken to have done it: a controller that was killed gives
/// ids twice, and a cancellation may meet the wrong job. A value with a memory; one thread.
class OwnCancels {
 public:
  /// Longer than Slurm lists ended jobs (MinJobAge). What is noted is kept for once to twice as long.
  static constexpr std::chrono::hours kKept{1};

  void Note(std::span<const std::int64_t> ids, SysTime now);
  /// Those of the jobs that we cancelled are just over.
  void TellApart(std::span<ListedJob> jobs) const;

 private:
  std::set<std::int64_t> noted_;   ///< since `since_`
  std::set<std::int64_t> before_;  ///< in the time before that
  SysTime since_;
};

}  // namespace trainyard::slurm
