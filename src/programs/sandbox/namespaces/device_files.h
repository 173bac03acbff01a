#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/container/oci_spec.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Finds what a program or a container needs from this machine to use the replica's accelerators.
namespace trainyard::replica {

/// The paths to search; the defaults are the machine's own.
struct DevicePlaces {
  std::vector<std::string> cdi_folders = {"/etc/cdi", "/var/run/cdi"};
  std::vector<std::string> library_folders = {
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
      "/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",           "/usr/lib"};
  std::vector<std::string> shared_nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                                           "/dev/nvidia-modeset"};
  std::string wsl_node = "/dev/dxg";  ///< on WSL, the way to all GPUs
  std::string wsl_folder = "/usr/lib/wsl";
};

struct DeviceFiles {
  std::vector<container::DeviceNode> nodes;
  std::vector<container::Bind> binds;
  std::vector<container::Hook> hooks;
  std::vector<std::string> environment;  ///< NAME=value
  std::vector<std::string> cdi_names;    ///< of the GPUs, for a container engine: "nvidia.com/gpu=0"
  bool has_other_gpus = false;           ///< also those of other replicas may be among the nodes
  std::string note;                      ///< one sentence for the log if something is wrong
};

/// Empty for a replica without accelerators. For GPUs it follows a CDI file of kind nvidia.com/gpu; if there
/// is none, it takes their device files and the shared ones, the driver's libraries in a separate directory
/// that LD_LIBRARY_PATH names, and nvidia-smi; on WSL, /dev/dxg and /usr/lib/wsl. For TPUs it takes their
/// device files. A declared accelerator may be any of the machine's.
[[nodiscard]] DeviceFiles FindDeviceFiles(const v1::Devices& devices, const DevicePlaces& places = {});

/// Whether the device file is a GPU's, or one that GPUs share.
[[nodiscard]] bool IsGpuFile(std::string_view file);
/// Whether the replica has GPUs whose files are known, so that it cannot open those of others.
[[nodiscard]] bool HasGpuFiles(const v1::Devices& devices);

/// Device files of accelerators that do not belong to this replica. A declared accelerator may be any of its
/// kind on the machine, so none of that kind is forbidden. Any thread.
[[nodiscard]] std::vector<std::string> ForbiddenDevices(const v1::Devices& own);

/// The number of CPUs that this process may use, at least 1. Any thread.
[[nodiscard]] int CpuCount();

}  // namespace trainyard::replica
