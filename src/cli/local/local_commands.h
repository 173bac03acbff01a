#pragma once

#include <span>

#include "cli/client_settings.h"
#include "cli/command_session.h"
#include "cli/console.h"
#include "cli/gcloud/arguments.h"

/// The commands that work without a server.
namespace trainyard::cli {

/// `local train`: runs the package on this machine, alone or as a cluster. The exit status is the primary's.
[[nodiscard]] ExitStatus TrainLocally(const LocalSession& session);

/// `runtimes list`: as the running server sees them; without one, those of the data directory.
[[nodiscard]] ExitStatus ListRuntimes(const LocalSession& session);
/// `runtimes ...`: the runtime versions of a data directory. They work on its files and take the same locks
/// as a server, so a server may run or not.
[[nodiscard]] ExitStatus DescribeRuntime(const LocalSession& session);
[[nodiscard]] ExitStatus InstallRuntime(const LocalSession& session);
[[nodiscard]] ExitStatus RemoveRuntime(const LocalSession& session);

}  // namespace trainyard::cli
