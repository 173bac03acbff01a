#pragma once

#include <string>
#include <string_view>

namespace trainyard::replica {

/// Where a process's cgroup of a controller is in the file system.
struct CgroupPlace {
  std::string path;  ///< directory of the cgroup; empty: there is none
  int version = 0;   ///< 1: the controller's own hierarchy; 2: the unified one
  bool operator==(const CgroupPlace&) const = default;
};

/// Finds the cgroup of a process from its /proc/PID/cgroup and /proc/PID/mountinfo: in version 1's hierarchy
/// of the controller where that is mounted, else version 2. Pure: any thread. Source: cgroups(7), proc(5).
[[nodiscard]] CgroupPlace FindCgroup(std::string_view cgroup, std::string_view mountinfo,
                                     std::string_view controller = "memory");

}  // namespace trainyard::replica
