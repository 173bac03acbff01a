#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// The device files that NVIDIA's driver needs and does not make by itself. Pure: any thread. Source: README
/// of NVIDIA's driver, "How and when are the NVIDIA device files created"; nvidia-modprobe(1).
namespace trainyard::placement {

struct MissingNode {
  std::string path;  ///< "/dev/nvidia-uvm"
  unsigned major = 0;
  unsigned minor = 0;
  friend bool operator==(const MissingNode&, const MissingNode&) = default;
};

/// What an operator may have told the driver about its device files.
struct NodeOwner {
  unsigned uid = 0;
  unsigned gid = 0;
  unsigned mode = 0666;
  friend bool operator==(const NodeOwner&, const NodeOwner&) = default;
};

struct NodePlan {
  std::vector<MissingNode> nodes;  ///< to make
  NodeOwner owner{};
  /// A clause: what is missing, and the command that makes it; empty: nothing is.
  std::string note{};
};

/// What the machine has.
struct DriverFiles {
  std::string_view devices;          ///< the text of /proc/devices
  std::string_view params;           ///< the text of /proc/driver/nvidia/params; empty: the driver's defaults
  std::vector<unsigned> gpus{};      ///< the minor numbers of the GPUs that the driver has
  std::set<std::string> existing{};  ///< the paths of the device files that are there
};

/// Nothing where the driver is not loaded. A module that is not loaded is noted, since its number is not
/// known then; so is everything where the driver is told to leave its files alone (ModifyDeviceFiles: 0).
[[nodiscard]] NodePlan PlanNodes(const DriverFiles& files);

}  // namespace trainyard::placement
