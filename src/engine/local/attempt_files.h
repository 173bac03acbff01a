#pragma once

#include "base/async/unique_fd.h"
#include "engine/attempt_host.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/attempt_processes.h"

/// The local attempt host's work on directories of attempts. Blocking: a pool's thread.
namespace trainyard::engine {

/// Makes the directory with the manifest in it and takes the lock. kAlreadyExists: the attempt was started
/// before.
[[nodiscard]] Result<UniqueFd> MakeAttempt(const replica::AttemptDir& dir, const Manifest& manifest);

/// By its files alone: of one that has ended or is lost, processes may live still (leftovers.h), and a
/// container (programs/runtimes/daemon_container.h).
[[nodiscard]] Result<AttemptState> InspectAttempt(const replica::AttemptDir& dir);

/// Every attempt with a directory there. Directories whose names are no attempt ids are not ours and left
/// out; without `attempts_dir` there are none.
[[nodiscard]] Result<std::vector<AttemptRef>> ListAttempts(const std::string& attempts_dir);

/// A pidfd of the supervisor that holds the lock; empty if it is gone.
[[nodiscard]] UniqueFd OpenSupervisor(const replica::AttemptDir& dir);

/// kFailedPrecondition: the attempt is alive.
[[nodiscard]] Result<AttemptHost::Remains> CollectRemains(const replica::AttemptDir& dir,
                                                          std::int64_t from_line);

/// SIGKILL to the supervisor; its sandbox's init process then ends everything else, and lets go of the lock
/// when that is done.
void KillSupervisor(const replica::AttemptDir& dir);
/// SIGKILL to the first process of the sandbox, and so to the program: the supervisor lives on, records the
/// end and hands over. Nothing without a sandbox.
void KillProgram(const replica::AttemptDir& dir);
/// Whether a process of the user's program has the connection, and not one that prepares it. Reads /proc.
[[nodiscard]] bool IsOfProgram(const replica::AttemptDir& dir, replica::ConnectionEnd end);
/// SIGKILL to every process that has the lock open: the supervisor, its sandbox's init process, its relay.
/// The kernel ends what was in a PID namespace; what then lives is for IsOver.
void KillLockHolders(const replica::AttemptDir& dir);

/// kFailedPrecondition: the attempt is alive, or may have a container.
[[nodiscard]] Status RemoveAttempt(const replica::AttemptDir& dir);

}  // namespace trainyard::engine
