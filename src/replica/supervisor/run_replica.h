#pragma once

namespace trainyard::replica {

class ProgramSource;

/// `trainyard replica [--isolation=N] [--spool-bytes-max=N] [--output-wait-max-ms=N] ATTEMPT_DIR`: manages
/// one attempt until it is dismissed. The options are for tests: the best isolation to try
/// (programs/sandbox/sandbox.h, from 0), the spool's limit, and how long a full one may block the program.
/// Exit code: 0 after a Dismiss or a SIGTERM; 1: the attempt is running, was started before, or its directory
/// cannot be used (the reason is on stderr). `trainyard replica --remove-container ATTEMPT_DIR`: removes what
/// a container of a killed supervisor left in the directory and only users of its own namespace may remove.
int RunReplica(int argc, char** argv);

/// The same with another source of programs.
int RunReplica(int argc, char** argv, ProgramSource& source);

}  // namespace trainyard::replica
