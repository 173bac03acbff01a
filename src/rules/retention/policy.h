#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "rules/retention/keep.h"

namespace trainyard::retention {

/// What an installation keeps, and for how long.
struct Policy {
  Keep jobs = std::chrono::days(90);    ///< since they ended; as long as jobs.list shows them
  Keep logs = std::chrono::days(30);    ///< since the last line of a job that has ended
  Keep scratch = std::chrono::days(7);  ///< what killed builds and ended attempts left, since it changed
  Keep environments = std::chrono::days(90);  ///< runtime versions and layers, since a program began in them
  std::optional<std::int64_t> environments_bytes;  ///< of all of them; absent: any size
};

/// Between two sweeps: an hour, or less where something is kept for a shorter time (tests).
inline constexpr std::chrono::seconds kSweepPauseMax{3'600};
inline constexpr std::chrono::seconds kSweepPauseMin{1};
[[nodiscard]] std::chrono::seconds SweepPause(const Policy& policy);

}  // namespace trainyard::retention
