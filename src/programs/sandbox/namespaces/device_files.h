#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/container/oci_spec.h"
#include "trainyard/replica/v1/replica.pb.h"

/// What a program needs of this machine, and what a container needs of it to use the replica's accelerators.
namespace trainyard::replica {

/// Where to look; the defaults are the machine's own.
struct DevicePlaces {
  std::vector<std::string> cdi_folders = {"/etc/cdi", "/var/run/cdi"};
  std::vector<std::string> library_folders = {
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
      "/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",           "/usr/lib"};
  std::vector<std::string> shared_nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                                           "/dev/nvidia-modeset"};
};

struct DeviceFiles {
  std::vector<container::DeviceNode> nodes;
  std::vector<container::Bind> binds;
  std::vector<container::Hook> hooks;
  std::vector<std::string> environment;  ///< NAME=value
  std::string note;                      ///< one sentence for the log if something is not as it should be
};

/// Nothing for a replica without accelerators. GPUs as a CDI file of kind nvidia.com/gpu describes them;
/// where there is none, their device files with those that all share, the driver's libraries in a directory
/// of their own that LD_LIBRARY_PATH names, and nvidia-smi. TPUs: their device files. A declared accelerator
/// may be any of the machine's.
[[nodiscard]] DeviceFiles FindDeviceFiles(const v1::Devices& devices, const DevicePlaces& places = {});

/// Files of accelerators that are not this replica's. A declared one may be any of the machine's of its kind.
/// Any thread.
[[nodiscard]] std::vector<std::string> ForbiddenDevices(const v1::Devices& own);

/// CPUs that we may run on, at least 1. Any thread.
[[nodiscard]] int CpuCount();

}  // namespace trainyard::replica
