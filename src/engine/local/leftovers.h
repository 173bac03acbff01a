#pragma once

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

/// Finds what still lives of an attempt whose supervisor was killed. Blocking, some 100 ms at most: call it
/// on a pool's thread.
namespace trainyard::engine {

/// Whether the whole attempt has ended: nobody has its lock, and nothing that its notes name lives (the first
/// process of its sandbox, with which a PID namespace ends; the processes in its cgroups). If nobody has the
/// lock the attempt is dead, and what the notes name is killed: call it again until it returns true. A
/// process is killed only if it provably belongs to the attempt: by its pid, its start time and the machine's
/// boot time; or because it is in a cgroup that bears the attempt's name. A missing directory or lock proves
/// nothing: then all processes are inspected (strays.h). Errors: the lock or the processes cannot be looked
/// at.
[[nodiscard]] Result<bool> IsOver(const replica::AttemptDir& dir);

}  // namespace trainyard::engine
