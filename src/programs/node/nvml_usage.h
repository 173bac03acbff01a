#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

/// The utilization and memory use of a GPU.
struct GpuUsage {
  std::string id;          ///< as the caller named it
  double utilization = 0;  ///< share of the last moments in which a kernel ran, 0 to 1; 0 if NVML cannot tell
  std::int64_t memory_bytes = 0;
  std::int64_t memory_total_bytes = 0;
  friend bool operator==(const GpuUsage&, const GpuUsage&) = default;
};

/// Queries these GPUs, named as in CUDA_VISIBLE_DEVICES: by UUID or by index. A GPU that does not answer is
/// left out. Loads the library and unloads it. Blocks, for seconds if the driver has to wake up. Errors as
/// AskNvml.
[[nodiscard]] Result<std::vector<GpuUsage>> AskNvmlUsage(const std::string& library,
                                                         const std::vector<std::string>& ids);

}  // namespace trainyard::node
