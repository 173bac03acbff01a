#pragma once

#include "cli/console.h"
#include "cli/gcloud/arguments.h"
#include "cli/session.h"
#include "cli/settings.h"

/// `runtimes ...`: the runtime versions of a data folder. They work on its files, by the locks of those who
/// build and use environments, so no server needs to run, and one that runs is not disturbed.
namespace trainyard::cli {

[[nodiscard]] ExitStatus ListRuntimes(const Arguments& arguments, const Surroundings& surroundings,
                                      const Console& console);
[[nodiscard]] ExitStatus DescribeRuntime(const Arguments& arguments, const Surroundings& surroundings,
                                         const Console& console);
[[nodiscard]] ExitStatus InstallRuntime(const Arguments& arguments, const Surroundings& surroundings,
                                        const Console& console);
[[nodiscard]] ExitStatus RemoveRuntime(const Arguments& arguments, const Surroundings& surroundings,
                                       const Console& console);

}  // namespace trainyard::cli
