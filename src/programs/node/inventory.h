#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/placement/device.h"

namespace trainyard::node {

/// What NVIDIA's management library reports about a GPU.
struct NvmlGpu {
  std::string name;    ///< "Tesla T4"
  std::string uuid;    ///< "GPU-...": CUDA_VISIBLE_DEVICES takes it
  unsigned minor = 0;  ///< of /dev/nvidiaN
  std::uint64_t memory_bytes = 0;
};

/// All GPUs in NVML's order, which is that of the PCI bus. Loads the library (a path or a name for dlopen),
/// queries it, and unloads it, so that nothing of it stays in memory. Blocks. Errors: kNotFound: there is no
/// such library; kUnavailable: there is no driver, or a GPU does not answer. Source: NVML API reference.
[[nodiscard]] Result<std::vector<NvmlGpu>> AskNvml(const std::string& library);

/// The type of a GPU, spelled as in flags, from its driver's name for it: "nvidia-tesla-t4" for "Tesla T4",
/// "nvidia-tesla-a100" for "NVIDIA A100-SXM4-40GB" (the six types of the original), else the name itself:
/// "nvidia-h200" for "NVIDIA H200". Pure.
[[nodiscard]] std::string GpuType(std::string_view name);

/// The paths to search; the defaults are the machine's own.
struct Places {
  std::string root;  ///< a prefix for /dev, /proc and /sys
  std::string nvml = "libnvidia-ml.so.1";
};

struct Inventory {
  std::vector<placement::Device> devices;  ///< GPUs in the order of the PCI bus, then TPUs
  std::vector<std::string> notes;          ///< for the operator: which information could not be read, and why
  std::vector<std::string> details;        ///< a line for each device
};

/// Finds the accelerators of this machine. GPUs come from NVML; if it does not answer, from the driver's list
/// below /proc/driver/nvidia/gpus; if that does not exist, from their device files. All of Google's TPU chips
/// (PCI vendor 1ae0) form one board: their library takes all chips of a machine or none. Blocks for as long
/// as the driver needs to wake up (up to seconds).
[[nodiscard]] Inventory FindDevices(const Places& places = {});

/// Device files of single accelerators: /dev/nvidiaN, /dev/accelN, and /dev/vfio/N if that is a TPU. Files
/// that all accelerators share (/dev/nvidiactl, /dev/vfio/vfio) are left out.
[[nodiscard]] std::vector<std::string> AcceleratorFiles(const Places& places = {});

}  // namespace trainyard::node
