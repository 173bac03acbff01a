#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/placement/device.h"

namespace trainyard::node {

/// The type of a GPU, spelled as in flags, from its driver's name for it: "nvidia-tesla-t4" for "Tesla T4",
/// "nvidia-tesla-a100" for "NVIDIA A100-SXM4-40GB" (the six types of the original), "nvidia-h200-141gb" for
/// "NVIDIA H200" (those of Vertex AI), else the name itself: "nvidia-l40s" for "NVIDIA L40S",
/// "nvidia-a100-sxm4-40gb-mig-1g-5gb" for a part of an A100. Pure.
[[nodiscard]] std::string GpuType(std::string_view name);

/// The paths to search; the defaults are the machine's own.
struct Places {
  std::string root;  ///< a prefix for /dev, /proc and /sys
  std::string nvml = "libnvidia-ml.so.1";
};

/// What NVML says about the health of a GPU.
struct GpuSigns {
  std::string uuid;                 ///< of the GPU
  std::uint64_t memory_errors = 0;  ///< as NvmlGpu
};

struct Inventory {
  std::vector<placement::Device> devices;  ///< GPUs in the order of the PCI bus, then TPUs
  std::vector<std::string> notes;          ///< for the operator: which information could not be read, and why
  std::vector<std::string> details;        ///< a line for each device
  std::map<std::string, GpuSigns> signs;   ///< by the device's id; empty: NVML does not answer
};

/// Finds the accelerators of this machine. GPUs come from NVML, where one that does not answer is left out
/// and noted; if it does not answer, from the driver's list below /proc/driver/nvidia/gpus; if that does not
/// exist, from their device files. All of Google's TPU chips (PCI vendor 1ae0) form one board: their library
/// takes all chips of a machine or none. Blocks for as long as the driver needs to wake up (up to seconds).
[[nodiscard]] Inventory FindDevices(const Places& places = {});

/// Makes the device files that NVIDIA's driver needs and that nothing makes after a boot, such as
/// /dev/nvidia-uvm, for the modules that are loaded. Returns the paths of those made. What cannot be made is
/// in FindDevices' notes, with the command that does it. Needs root; does nothing without.
std::vector<std::string> MakeDeviceNodes(const Places& places = {});

/// Device files of single accelerators: /dev/nvidiaN, /dev/nvidia-caps/* (of MIG), /dev/dxg (of all GPUs on
/// WSL), /dev/accelN, and
/// /dev/vfio/N if that is a TPU. Files that all accelerators share (/dev/nvidiactl, /dev/vfio/vfio) are left
/// out.
[[nodiscard]] std::vector<std::string> AcceleratorFiles(const Places& places = {});

}  // namespace trainyard::node
