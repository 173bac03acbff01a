#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/clock.h"

/// What the whole machine used. Pure: any thread.
namespace trainyard::metrics {

/// One is kept a minute.
inline constexpr std::chrono::minutes kMachineSampleEvery{1};

struct MachineSample {
  SysTime time;
  double cpu_utilization = -1;     ///< of all CPUs since the sample before, 0 to 1; -1: not known
  double memory_utilization = -1;  ///< 0 to 1; -1: not known
  double gpu_utilization = -1;     ///< mean of all GPUs; -1: not known, or there are none
  double replicas = 0;             ///< that ran
  friend bool operator==(const MachineSample&, const MachineSample&) = default;
};

/// Parts of equal length of the time before a moment.
struct MachineSpan {
  SysTime start;
  std::chrono::seconds step{0};
  std::size_t parts = 0;
  friend bool operator==(const MachineSpan&, const MachineSpan&) = default;
};
/// Of so many hours before `now`: a part a minute, at most kMachinePartsMax. Whole steps since 1970, so that
/// parts do not shift from one question to the next.
[[nodiscard]] MachineSpan SpanOf(SysTime now, std::chrono::hours hours);
inline constexpr std::size_t kMachinePartsMax = 1'440;

/// Columns of one length: the mean of the samples of each part; -1 in a part without any.
struct MachineColumns {
  std::vector<float> cpu;
  std::vector<float> memory;
  std::vector<float> gpu;  ///< empty: no sample has GPUs
  std::vector<float> replicas;
};
[[nodiscard]] MachineColumns ColumnsOf(std::span<const MachineSample> samples, const MachineSpan& span);

}  // namespace trainyard::metrics
