#pragma once

#include <string>
#include <vector>

#include "rules/placement/device.h"

namespace trainyard::node {

/// Where to look; the defaults are the machine's own.
struct Places {
  std::string root;  ///< in front of /dev, /proc and /sys
  std::string nvml = "libnvidia-ml.so.1";
};

struct Inventory {
  std::vector<placement::Device> devices;  ///< GPUs in the order of the PCI bus, then TPUs
  std::vector<std::string> notes;          ///< for the operator: what could not be read, and why
  std::vector<std::string> details;        ///< a line for each device
};

/// The accelerators of this machine. GPUs as NVML lists them; where it does not answer, as the driver does
/// below /proc/driver/nvidia/gpus; where that is not there, by their device files. All of Google's TPU chips
/// (PCI vendor 1ae0) are one board: their library takes all chips of a machine or none. Blocks for as long as
/// the driver needs to wake up (up to seconds).
[[nodiscard]] Inventory FindDevices(const Places& places = {});

/// Device files of single accelerators: /dev/nvidiaN, /dev/accelN, and /dev/vfio/N where that is a TPU. Not
/// those that all accelerators share (/dev/nvidiactl, /dev/vfio/vfio).
[[nodiscard]] std::vector<std::string> AcceleratorFiles(const Places& places = {});

}  // namespace trainyard::node
