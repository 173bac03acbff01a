#pragma once

#include "base/async/unique_fd.h"
#include "engine/attempt_host.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/attempt_processes.h"

/// The local attempt host's operations on directories of attempts. Blocking: call them on a pool's thread.
namespace trainyard::engine {

/// Makes the directory with the manifest in it and takes the lock. kAlreadyExists: the attempt was started
/// before.
[[nodiscard]] Result<UniqueFd> MakeAttempt(const replica::AttemptDir& dir, const Manifest& manifest);

/// Returns the state according to the files alone: an attempt that has ended or is lost may still have living
/// processes (leftovers.h) and a container (programs/runtimes/daemon_container.h).
[[nodiscard]] Result<AttemptState> InspectAttempt(const replica::AttemptDir& dir);

/// Every attempt with a directory there. Directories whose names are not attempt ids are ignored; if
/// `attempts_dir` does not exist, the list is empty.
[[nodiscard]] Result<std::vector<AttemptRef>> ListAttempts(const std::string& attempts_dir);

/// A pidfd of the supervisor that holds the lock; empty if it is gone.
[[nodiscard]] UniqueFd OpenSupervisor(const replica::AttemptDir& dir);

/// kFailedPrecondition: the attempt is alive.
[[nodiscard]] Result<AttemptHost::Remains> CollectRemains(const replica::AttemptDir& dir,
                                                          std::int64_t from_line);

/// Sends SIGKILL to the supervisor; its sandbox's init process then ends everything else, and releases the
/// lock when that is done.
void KillSupervisor(const replica::AttemptDir& dir);
/// Sends SIGKILL to the first process of the sandbox, and so ends the program: the supervisor lives on,
/// records the end and hands over. Does nothing without a sandbox.
void KillProgram(const replica::AttemptDir& dir);
/// Whether the connection belongs to a process of the user's program, and not to one that prepares it. Reads
/// /proc.
[[nodiscard]] bool IsOfProgram(const replica::AttemptDir& dir, replica::ConnectionEnd end);
/// Sends SIGKILL to every process that has the lock open: the supervisor, its sandbox's init process, its
/// relay. The kernel ends the processes of a PID namespace; IsOver handles any that then still live.
void KillLockHolders(const replica::AttemptDir& dir);

/// kFailedPrecondition: the attempt is alive, or may have a container.
[[nodiscard]] Status RemoveAttempt(const replica::AttemptDir& dir);

}  // namespace trainyard::engine
