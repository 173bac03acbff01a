#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/clock.h"

/// The use of the whole machine. Pure: any thread.
namespace trainyard::metrics {

/// One sample per minute is stored.
inline constexpr std::chrono::minutes kMachineSampleEvery{1};

struct MachineSample {
  SysTime time;
  double cpu_utilization = -1;     ///< of all CPUs since the sample before, 0 to 1; -1: not known
  double memory_utilization = -1;  ///< 0 to 1; -1: not known
  double gpu_utilization = -1;     ///< mean of all GPUs; -1: not known, or there are none
  double replicas = 0;             ///< running ones
  friend bool operator==(const MachineSample&, const MachineSample&) = default;
};

/// Equal parts of the time before a moment.
struct MachineSpan {
  SysTime start;
  std::chrono::seconds step{0};
  std::size_t parts = 0;
  friend bool operator==(const MachineSpan&, const MachineSpan&) = default;
};
/// The parts of this many hours before `now`: one a minute, at most kMachinePartsMax. They begin at whole
/// steps since 1970, so that parts do not shift from one request to the next.
[[nodiscard]] MachineSpan SpanOf(SysTime now, std::chrono::hours hours);
inline constexpr std::size_t kMachinePartsMax = 1'440;

/// Columns of equal length: the mean of the samples in each part; -1 in a part without samples.
struct MachineColumns {
  std::vector<float> cpu;
  std::vector<float> memory;
  std::vector<float> gpu;  ///< empty: no sample has GPUs
  std::vector<float> replicas;
};
[[nodiscard]] MachineColumns ColumnsOf(std::span<const MachineSample> samples, const MachineSpan& span);

}  // namespace trainyard::metrics
