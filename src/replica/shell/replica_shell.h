#pragma once

#include "base/result.h"

namespace trainyard::shell {

/// `trainyard replica-shell ATTEMPT_DIR`: a shell inside a running replica, on the terminal that is its
/// standard input: in the namespaces and the cgroup of the replica's program, with its environment and
/// working directory, as its user (also a container's) and with the same restrictions
/// (programs/sandbox/confinement.h). Ends with the replica, as does whatever was started from it in the
/// replica's PID namespace. Exit code: the shell's; 125: there is no such running replica, or the kernel does
/// not let us in (the reason is on stderr).
int RunReplicaShell(int argc, char** argv);

/// Executes this program again from a sealed copy in memory, with the same arguments; returns immediately if
/// it is already that copy. Needed before entering a container: otherwise a program in it that says
/// `#!/proc/self/exe` would get the machine's own file, which root inside could overwrite (CVE-2019-5736).
/// `arguments`: of main, with a null pointer after the last. Errors: no such copy can be made or run.
[[nodiscard]] Status RunFromOwnCopy(char* const* arguments);

}  // namespace trainyard::shell
