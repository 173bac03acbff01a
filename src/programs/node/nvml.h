#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

/// What NVIDIA's management library reports about a GPU.
struct NvmlGpu {
  std::string name;    ///< "Tesla T4"
  std::string uuid;    ///< "GPU-...": CUDA_VISIBLE_DEVICES takes it
  unsigned minor = 0;  ///< of /dev/nvidiaN
  std::uint64_t memory_bytes = 0;
};

/// All GPUs in NVML's order, which is that of the PCI bus. Loads the library (a path or a name for dlopen),
/// asks, and unloads it: nothing of it stays in memory. Blocks. Errors: kNotFound: there is no such
/// library; kUnavailable: there is no driver, or a GPU does not answer. Source: NVML API reference.
[[nodiscard]] Result<std::vector<NvmlGpu>> AskNvml(const std::string& library);

}  // namespace trainyard::node
