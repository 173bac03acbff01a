#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/testing/fault_log.h"
#include "control/testing/job_ledger.h"
#include "engine/testing/lifecycle_coverage.h"

namespace trainyard::control {

/// How often each row of docs/lifecycle.md's table was met, and how often after or during each kind of fault.
/// Plain numbers, so that it may be in memory that processes share.
struct Coverage {
  static constexpr std::size_t kRowsMax = 128;
  static constexpr std::size_t kFaultsMax = 64;

  /// Counts a job's events. An event is met with a fault that happened since the job's event before it
  /// (events of the same time count as one) or that was in force then.
  /// @param times  of the events of `history`, true time; `asked_at`: when its creation was requested.
  void AddJob(const JobHistory& history, const std::vector<SysTime>& times, SysTime asked_at,
              const FaultLog& faults);
  void Add(const Coverage& other);

  std::array<std::uint64_t, kRowsMax> rows{};  ///< in the order of jobs::Transitions()
  std::array<std::array<std::uint64_t, kFaultsMax>, kRowsMax> pairs{};  ///< and in the order of Faults()
  engine::LifecycleCoverage supervisors{};
};

/// A text for people. It names what the run met and what it never met, one on each line.
[[nodiscard]] std::vector<std::string> PrintCoverage(const Coverage& coverage);

}  // namespace trainyard::control
