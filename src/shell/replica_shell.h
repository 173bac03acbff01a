#pragma once

namespace trainyard::shell {

/// `trainyard replica-shell ATTEMPT_DIR`: a shell inside a running replica, on the terminal that is standard
/// input: in the namespaces and the cgroup of the replica's program, with its environment and working
/// directory, as its user (also that of a container) and confined as it is (sandbox/confinement.h). Ends with
/// the replica; whatever was started from it in the replica's PID namespace ends then as well. Exit code: the
/// shell's; 125: there is no such running replica, or the kernel does not let us in (the reason is on
/// stderr).
int RunReplicaShell(int argc, char** argv);

}  // namespace trainyard::shell
