#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Where the cgroups of an installation's attempts are. Tried out once, when the server starts: what works
/// then is what supervisors use. Blocking. Source: the kernel's cgroup-v2 document,
/// systemd.io/CGROUP_DELEGATION.
namespace trainyard::replica {

/// What a process reads of itself: /proc/self/cgroup and /proc/self/mountinfo.
struct CgroupView {
  std::string membership;
  std::string mounts;

  [[nodiscard]] static Result<CgroupView> Own();
};

/// A use of the machine that cannot be bounded.
struct MissingLimit {
  std::string what;     ///< "memory", "CPUs", "processes"
  bool absent = false;  ///< the kernel does not have the controller; else it may not be used
  std::string why;
  friend bool operator==(const MissingLimit&, const MissingLimit&) = default;
};

/// What this machine can bound of a replica's use.
struct LimitSupport {
  int version = 0;    ///< of cgroups; 0: there are none for us
  std::string group;  ///< version 2: the installation's; version 1: empty, they are below each supervisor's
  std::vector<MissingLimit> missing;
  friend bool operator==(const LimitSupport&, const LimitSupport&) = default;
};

/// A process may not be beside a group with limits: what is in the base goes into this leaf.
inline constexpr const char* kLeafName = "trainyard-leaf";

/// The cgroup version that has the memory controller; 0: none is mounted. Pure.
[[nodiscard]] int CgroupVersion(const CgroupView& view);

/// Directory of the process's own group of version 2; empty: none is mounted. Pure.
[[nodiscard]] std::string OwnGroup(const CgroupView& view);

/// The group that may be divided, if the process is in it or in the leaf that was made in it: `own` without
/// the leaf. Pure.
[[nodiscard]] std::string BaseGroup(std::string_view own, std::string_view leaf = kLeafName);

/// Whether the group is ours to divide: its own files can be written, and groups made in it.
[[nodiscard]] bool CanDivide(const std::string& group);
/// Whether systemd says so of a unit's group. A user's systemd notes it only from version 254 on.
[[nodiscard]] bool IsDelegated(const std::string& group);

/// Version 2: moves all that is in the base into the leaf, switches the controllers on, and makes the
/// installation's group. Memory first: where it may not be used no other is tried. May be called again, also
/// while attempts live. `missing` tells what cannot be had; a group that cannot be made at all misses all.
[[nodiscard]] LimitSupport DivideGroup(const std::string& base, const std::string& installation,
                                       const std::string& leaf = kLeafName);

/// The first step of it: what is in the base goes into the leaf.
[[nodiscard]] Status MoveToLeaf(const std::string& base, const std::string& leaf);

/// Version 1: makes a group beside those that attempts will have, and removes it.
[[nodiscard]] LimitSupport TryVersion1(const CgroupView& view, const std::string& installation);

/// Removes the groups in the directory that killed processes of the installation have left, noted or not:
/// "...-PID" of no process, with nothing in it. Both of the above do so.
void RemoveLeftGroups(const std::string& directory, const std::string& installation);

/// Takes processes off what is missing where they are bounded otherwise: by a namespace or, of who is not
/// root, by the account (process_limit.h). Looks at this process and the kernel.
void LeaveOutProcesses(LimitSupport& support);

/// All are missing for one reason.
[[nodiscard]] LimitSupport NoLimits(bool absent, const std::string& why);

}  // namespace trainyard::replica
