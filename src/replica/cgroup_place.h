#pragma once

#include <string>
#include <string_view>

namespace trainyard::replica {

/// Where a process's cgroup is in the file system.
struct CgroupPlace {
  std::string path;  ///< folder of the cgroup; empty: there is none
  int version = 0;   ///< 1: the memory controller's hierarchy; 2: the unified one
  bool operator==(const CgroupPlace&) const = default;
};

/// Finds the cgroup that counts a process's memory from its /proc/PID/cgroup and /proc/PID/mountinfo: version
/// 1's memory controller where it is mounted, else version 2. Pure: any thread. Source: cgroups(7), proc(5).
[[nodiscard]] CgroupPlace FindCgroup(std::string_view cgroup, std::string_view mountinfo);

}  // namespace trainyard::replica
