#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "control/testing/coverage.h"

namespace trainyard::control {

/// Which schedules are tried.
struct SimulationPlan {
  std::uint64_t first_seed = 1;
  std::uint64_t schedules = std::numeric_limits<std::uint64_t>::max();  ///< at most so many
  std::optional<std::chrono::steady_clock::time_point> deadline{};      ///< no schedule begins after it
  int actions = 0;                                                      ///< of each schedule
  int workers = 1;                                                      ///< processes
};

struct SimulationReport {
  std::uint64_t schedules = 0;
  struct Failure {
    std::uint64_t seed = 0;
    std::string what{};  ///< the beginning of the first violation
  };
  std::vector<Failure> failed{};  ///< the first kFailuresMax, by seed
  std::uint64_t failures = 0;     ///< all
  Coverage coverage{};
  static constexpr std::size_t kFailuresMax = 64;
};

/// Tries the schedules in child processes, because simulated time belongs to a whole process. `on_minute` is
/// called once a minute meanwhile; it may be null. The caller must be the only thread of its process.
/// @param scratch  an existing directory
[[nodiscard]] SimulationReport RunSchedules(const SimulationPlan& plan, const std::filesystem::path& scratch,
                                            const std::function<void(const SimulationReport&)>& on_minute);

}  // namespace trainyard::control
