#pragma once

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

/// What lives on of an attempt when its supervisor was killed. Blocking, some 100 ms at most: a pool's
/// thread.
namespace trainyard::engine {

/// Whether all of the attempt has ended: nobody has its lock, and nothing that its notes name lives (the
/// first process of its sandbox, which holds a PID namespace together; what is in its cgroups). Where nobody
/// has the lock the attempt is dead, and what the notes name is killed: ask again until true. Only what is
/// proven to be the attempt's is killed: a process by its pid, its start time and the machine's start; what
/// is in a cgroup that bears the attempt's name. That the directory or the lock is gone proves nothing: then
/// all processes are looked at (strays.h). Errors: the lock or the processes cannot be looked at.
[[nodiscard]] Result<bool> IsOver(const replica::AttemptDir& dir);

}  // namespace trainyard::engine
