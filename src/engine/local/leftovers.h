#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

/// Finds what still lives of an attempt whose supervisor was killed, and attempts in another data directory
/// of this machine with the same jobs: the one whose backup this server was restored from. Blocking, some 100
/// ms at most: call the functions on a pool's thread.
namespace trainyard::engine {

/// Whether the whole attempt has ended: nobody has its lock, and nothing that its notes name lives (the first
/// process of its sandbox, with which a PID namespace ends; the processes in its cgroups). If nobody has the
/// lock the attempt is dead, and what the notes name is killed: call it again until it returns true. A
/// process is killed only if it provably belongs to the attempt: by its pid, its start time and the machine's
/// boot time; or because it is in a cgroup that bears the attempt's name. A missing directory or lock proves
/// nothing: then all processes are inspected (strays.h). Errors: the lock or the processes cannot be looked
/// at.
[[nodiscard]] Result<bool> IsOver(const replica::AttemptDir& dir);

/// The id of a living attempt in `former_dir` of the same job as `attempt_id`; empty: there is none. An empty
/// `former_dir` has none. Source: docs/adr/0044-operating.md.
[[nodiscard]] std::optional<std::string> FindFormerAttempt(const std::string& former_dir,
                                                           const std::string& attempt_id);

/// Whether any attempt there lives; true if that cannot be determined.
[[nodiscard]] bool HasLivingAttempts(const std::string& former_dir);

/// The message about such an attempt: where it still runs, and what to do.
[[nodiscard]] std::string FormerAttemptReason(const std::string& former_dir, const std::string& former_id);

}  // namespace trainyard::engine
