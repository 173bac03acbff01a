#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

/// Ends everything in a cgroup: for processes without a PID namespace, and for those that a killed supervisor
/// left. Blocking; any thread.
namespace trainyard::replica {

/// Whether a process is in the cgroup of that directory, or in a group below it; false if the group does not
/// exist. An exiting process may not count any more: it no longer runs its own code.
[[nodiscard]] bool HasProcesses(const std::string& directory);

/// Sends SIGKILL to everything in the cgroup of that directory and in the groups below it, however fast it
/// forks: by cgroup.kill (version 2, Linux 5.14), otherwise while the freezer has stopped all of it
/// (freezer.state of version 1, cgroup.freeze of version 2), otherwise in rounds; a program that forks faster
/// than we read can survive the rounds until `wait_max`. A process is only killed after it was seen in the
/// group with its pidfd open, so its pid cannot have been reused. The calling process is never killed, except
/// by cgroup.kill if it is in the group. Returns when the group is empty or does not exist.
/// kDeadlineExceeded: it is not empty yet. Source: cgroups(7); the kernel's cgroup-v2.rst and
/// cgroup-v1/freezer-subsystem.rst.
[[nodiscard]] Status KillGroup(const std::string& directory, std::chrono::milliseconds wait_max);

/// Removes an empty group; waits a moment, because the kernel takes a while after a process's end until the
/// group is empty. A group that is in use stays.
void RemoveGroup(const std::string& directory) noexcept;

/// A version 1 freezer group, below the calling process's own: it limits nothing, but makes KillGroup
/// reliable. The destructor removes it, which works once it is empty. One thread.
class FreezerGroup {
 public:
  /// No group.
  FreezerGroup() = default;
  /// kFailedPrecondition: the freezer has no hierarchy of its own (there is only version 2, where a replica's
  /// group can be killed without it). Other errors: the kernel does not let us make the group (not root, in a
  /// container).
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
