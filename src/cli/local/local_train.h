#pragma once

#include "cli/console.h"
#include "cli/gcloud/arguments.h"
#include "cli/session.h"
#include "cli/settings.h"

namespace trainyard::cli {

/// `local train`: the package on this machine, without a server, alone or as a cluster. The exit status is
/// the primary's.
[[nodiscard]] ExitStatus TrainLocally(const Arguments& arguments, const Surroundings& surroundings,
                                      const Console& console);

}  // namespace trainyard::cli
