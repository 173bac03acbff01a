#pragma once

#include <string>
#include <string_view>

namespace trainyard::replica {

/// The place in the file system of a process's cgroup for one controller.
struct CgroupPlace {
  std::string path;  ///< directory of the cgroup; empty: there is none
  int version = 0;   ///< 1: the controller's own hierarchy; 2: the unified one
  bool operator==(const CgroupPlace&) const = default;
};

/// Finds a process's cgroup from its /proc/PID/cgroup and /proc/PID/mountinfo: in the controller's version 1
/// hierarchy if that is mounted, else in version 2. Pure: any thread. Source: cgroups(7), proc(5).
[[nodiscard]] CgroupPlace FindCgroup(std::string_view cgroup, std::string_view mountinfo,
                                     std::string_view controller = "memory");

}  // namespace trainyard::replica
