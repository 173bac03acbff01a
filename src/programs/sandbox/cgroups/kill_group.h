#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

/// Ending everything in a cgroup: for processes that no PID namespace holds together, and for what a killed
/// supervisor left. Blocking; any thread.
namespace trainyard::replica {

/// Whether a process is in the cgroup of that directory, or in a group below it. A group that is not there
/// has none. One that is on its way out may already be left out: it runs no instruction of its own any more.
[[nodiscard]] bool HasProcesses(const std::string& directory);

/// SIGKILL to everything in the cgroup of that directory and in the groups below it, however fast that starts
/// other processes: by cgroup.kill (version 2, Linux 5.14), else while all of it is stopped by the freezer
/// (freezer.state of version 1, cgroup.freeze of version 2), else in rounds, which something that forks
/// faster than we read survives until `wait_max`. A process is only killed after it was seen in the group
/// with its pidfd open: its pid cannot have become another's. The calling process is never killed, but by
/// cgroup.kill if it is in the group. Returns when nothing is left in it; a group that is not there has
/// nothing. kDeadlineExceeded: something still is in it. Source: cgroups(7); the kernel's cgroup-v2.rst and
/// cgroup-v1/freezer-subsystem.rst.
[[nodiscard]] Status KillGroup(const std::string& directory, std::chrono::milliseconds wait_max);

/// Removes a group that nothing is in; waits a moment, because the kernel takes one between a process's end
/// and that. One that is in use stays.
void RemoveGroup(const std::string& directory) noexcept;

/// A group of version 1's freezer, below the calling process's own: it limits nothing, and makes KillGroup
/// certain. The destructor removes it, which works once nothing is in it. One thread.
class FreezerGroup {
 public:
  /// No group.
  FreezerGroup() = default;
  /// kFailedPrecondition: the freezer is not mounted by itself (version 2 alone; there a replica's own group
  /// can be killed as it is). Other errors: the kernel does not let us make it (no root, a container).
  [[nodiscard]] static Result<FreezerGroup> Create(std::string_view name);
  FreezerGroup(FreezerGroup&& other) noexcept;
  FreezerGroup& operator=(FreezerGroup&& other) noexcept;
  ~FreezerGroup() { Remove(); }

  /// Empty: there is none.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void Remove() noexcept;

  std::string path_;
};

}  // namespace trainyard::replica
