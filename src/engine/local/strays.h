#pragma once

#include <sys/types.h>

#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

/// Finds living processes of an attempt whose directory, or the lock in it, was removed or replaced: a
/// missing file does not prove that the attempt has ended. Reads /proc. Blocking, some 10 ms: call it on a
/// pool's thread.
namespace trainyard::engine {

/// Processes of one attempt, without the calling one.
struct Strays {
  /// Its supervisor, the first process of its sandbox, its relay: processes that have the lock open that was
  /// in the directory, or that have the command line of its supervisor.
  std::vector<pid_t> holders;
  std::vector<pid_t> members;  ///< in a cgroup that bears the attempt's name
};

/// An error: /proc cannot be read, and nothing is known.
[[nodiscard]] Result<Strays> FindStrays(const replica::AttemptDir& dir);

/// Sends SIGKILL to those of them that still belong to the attempt.
void KillStrays(const replica::AttemptDir& dir, const std::vector<pid_t>& pids);

/// Whether the attempt's supervisor or sandbox lives: a process has its lock. If the lock is missing, or is
/// not the one that its supervisor signed, /proc is searched.
[[nodiscard]] Result<bool> IsHeld(const replica::AttemptDir& dir);

/// A pidfd of a process among Strays::holders of an attempt whose lock is missing; empty: there is none.
[[nodiscard]] UniqueFd OpenStray(const replica::AttemptDir& dir);

}  // namespace trainyard::engine
