#pragma once

#include "cli/session.h"

namespace trainyard::cli {

/// `jobs shell JOB [REPLICA]`: this terminal in a replica of a running job (the master if none is named;
/// "3/REPLICA" in trial 3 of a tuning job), by its webAccessUri. Exit status: the shell's. Without a terminal
/// on standard input its bytes are typed, then the end of the file.
[[nodiscard]] ExitStatus OpenJobShell(const Session& session);

}  // namespace trainyard::cli
