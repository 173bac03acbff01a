#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/clock.h"
#include "slurm/job_list.h"

namespace trainyard::slurm {

/// Which jobs we cancelled, so that nobody else is taken to have done it: a controller that was killed gives
/// ids twice, and a cancellation may meet the wrong job. A value with a memory; one thread.
class OwnCancels {
 public:
  /// Longer than Slurm lists ended jobs (MinJobAge).
  static constexpr std::chrono::hours kKept{1};

  void Note(std::span<const std::int64_t> ids, SysTime now);
  /// The jobs; those that we cancelled are just over.
  [[nodiscard]] std::vector<ListedJob> Apart(const std::vector<const ListedJob*>& jobs) const;

 private:
  std::map<std::int64_t, SysTime> noted_;
};

}  // namespace trainyard::slurm
