#pragma once

#include <sys/types.h>

#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

/// What lives of an attempt whose directory says nothing: it, or the lock in it, was removed or replaced.
/// That a file is gone proves no end. Reads /proc. Blocking, some 10 ms: a pool's thread.
namespace trainyard::engine {

/// Processes of one attempt, without the calling one.
struct Strays {
  /// Its supervisor, the first process of its sandbox, its relay: they have the lock open that was in the
  /// directory, or are called as its supervisor is.
  std::vector<pid_t> holders;
  std::vector<pid_t> members;  ///< in a cgroup that bears the attempt's name
};

/// An error: /proc cannot be read, and nothing is known.
[[nodiscard]] Result<Strays> FindStrays(const replica::AttemptDir& dir);

/// SIGKILL to those of them that are the attempt's still.
void KillStrays(const replica::AttemptDir& dir, const std::vector<pid_t>& pids);

/// Whether the attempt lives, as far as its supervisor and its sandbox go: somebody has its lock. Where the
/// lock is not to be found, or is not the one that its supervisor signed, /proc is asked.
[[nodiscard]] Result<bool> IsHeld(const replica::AttemptDir& dir);

/// A pidfd of a process that holds an attempt whose lock is not to be found; empty: there is none.
[[nodiscard]] UniqueFd OpenStray(const replica::AttemptDir& dir);

}  // namespace trainyard::engine
