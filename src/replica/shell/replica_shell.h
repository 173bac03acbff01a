#pragma once

#include "base/result.h"

namespace trainyard::shell {

/// `trainyard replica-shell ATTEMPT_DIR`: a shell inside a running replica, on the terminal that is standard
/// input: in the namespaces and the cgroup of the replica's program, with its environment and working
/// directory, as its user (also that of a container) and confined as it is (programs/sandbox/confinement.h).
/// Ends with the replica; whatever was started from it in the replica's PID namespace ends then as well. Exit
/// code: the shell's; 125: there is no such running replica, or the kernel does not let us in (the reason is
/// on stderr).
int RunReplicaShell(int argc, char** argv);

/// Runs this program again from a sealed copy of itself in memory, with the same words; returns at once where
/// it is that copy. Whoever enters a container needs it: a program of the container that says
/// `#!/proc/self/exe` would otherwise be given the machine's own file, which root inside could overwrite
/// (CVE-2019-5736). `arguments`: of main, with a null pointer behind the last. Errors: no such copy can be
/// made or run.
[[nodiscard]] Status RunFromOwnCopy(char* const* arguments);

}  // namespace trainyard::shell
