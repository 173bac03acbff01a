#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::node {

/// Identifies a MIG device among those of its GPU.
struct MigPart {
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};

/// What NVIDIA's management library reports about a GPU, or about a MIG device, which is a part of one.
struct NvmlGpu {
  std::string name;               ///< "Tesla T4"; empty: unknown
  std::string uuid;               ///< "GPU-...", "MIG-...": CUDA_VISIBLE_DEVICES takes it
  std::optional<unsigned> minor;  ///< of /dev/nvidiaN; of a MIG device, its GPU's
  std::optional<std::uint64_t> memory_bytes;
  std::uint64_t memory_errors = 0;  ///< uncorrectable ones since its reset; 0 also if it does not count them
  std::string board;                ///< the UUID of the GPU
  std::optional<MigPart> part{};    ///< of a MIG device
};

struct NvmlAnswer {
  std::vector<NvmlGpu> gpus;          ///< in NVML's order, which is that of the PCI bus
  std::vector<std::string> failures;  ///< a clause for each call that failed: the GPU, the call, NVML's words
};

/// All GPUs that answer; in place of a GPU with MIG, its MIG devices, which nobody here makes or changes.
/// Each is asked by itself: one without a handle or a UUID cannot be given to a job and is left out; what
/// else fails is left unknown. A minor number that WSL does not have is no failure. Loads the library (a path
/// or a name for dlopen), queries it, and unloads it, so that nothing of it stays in memory. Blocks. Errors:
/// kNotFound: there is no such library; kUnavailable: there is no driver, or no GPU can be counted. Source:
/// NVML API reference.
[[nodiscard]] Result<NvmlAnswer> AskNvml(const std::string& library);

}  // namespace trainyard::node
