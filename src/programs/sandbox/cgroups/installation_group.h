#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Finds the place for the cgroups of an installation's attempts. It is tried out once, when the server
/// starts; supervisors then use what worked. Blocking. Source: the kernel's cgroup-v2 document,
/// systemd.io/CGROUP_DELEGATION.
namespace trainyard::replica {

/// The texts of /proc/self/cgroup and /proc/self/mountinfo.
struct CgroupView {
  std::string membership;
  std::string mounts;

  [[nodiscard]] static Result<CgroupView> Own();
};

/// A resource that cannot be limited.
struct MissingLimit {
  std::string what;     ///< "memory", "CPUs", "processes"
  bool absent = false;  ///< the kernel does not have the controller; otherwise we may not use it
  std::string why;
  friend bool operator==(const MissingLimit&, const MissingLimit&) = default;
};

/// Which limits this machine can set for a replica.
struct LimitSupport {
  int version = 0;    ///< of cgroups; 0: we cannot use any
  std::string group;  ///< version 2: the installation's; version 1: empty, they are below each supervisor's
  std::vector<MissingLimit> missing;
  friend bool operator==(const LimitSupport&, const LimitSupport&) = default;
};

/// With version 2, a group with processes cannot have child groups with limits: processes in the base group
/// are moved into this leaf.
inline constexpr const char* kLeafName = "trainyard-leaf";

/// The cgroup version with the memory controller; 0: none is mounted. Pure.
[[nodiscard]] int CgroupVersion(const CgroupView& view);

/// Directory of the process's own version 2 group; empty: none is mounted. Pure.
[[nodiscard]] std::string OwnGroup(const CgroupView& view);

/// The group in which child groups can be made: `own` without the leaf, if the process is in the leaf. Pure.
[[nodiscard]] std::string BaseGroup(std::string_view own, std::string_view leaf = kLeafName);

/// Whether we can make child groups with limits in the group: its files are writable, and groups can be
/// created in it.
[[nodiscard]] bool CanDivide(const std::string& group);
/// Whether systemd marks the unit's group as delegated. A user's systemd does so only from version 254 on.
[[nodiscard]] bool IsDelegated(const std::string& group);

/// Version 2: moves all processes in the base into the leaf, enables the controllers, and makes the
/// installation's group. Memory comes first: if it cannot be used, no other controller is tried. May be
/// called again, also while attempts live. `missing` lists the limits that do not work; all of them if the
/// group cannot be made.
[[nodiscard]] LimitSupport DivideGroup(const std::string& base, const std::string& installation,
                                       const std::string& leaf = kLeafName);

/// The first step of DivideGroup: moves all processes in the base into the leaf.
[[nodiscard]] Status MoveToLeaf(const std::string& base, const std::string& leaf);

/// Version 1: makes a group where those of attempts will be, and removes it.
[[nodiscard]] LimitSupport TryVersion1(const CgroupView& view, const std::string& installation);

/// Removes the groups in the directory that killed processes of the installation have left, whether they are
/// noted or not: empty groups "...-PID" whose process does not exist. DivideGroup and TryVersion1 do so.
void RemoveLeftGroups(const std::string& directory, const std::string& installation);

/// Removes "processes" from `missing` if they are limited otherwise: by a namespace or, if we are not root,
/// by the account (process_limit.h). Looks at this process and the kernel.
void LeaveOutProcesses(LimitSupport& support);

/// The result if all limits are missing for one reason.
[[nodiscard]] LimitSupport NoLimits(bool absent, const std::string& why);

}  // namespace trainyard::replica
