#pragma once

#include <filesystem>

#include "cli/client_settings.h"
#include "cli/gcloud/arguments.h"

namespace trainyard::cli {

/// --data or the default, absolute.
[[nodiscard]] std::filesystem::path FindDataDir(const Arguments& arguments, const SettingSources& sources);

/// Its folder of environments, absolute and without links.
[[nodiscard]] std::filesystem::path FindEnvironmentsDir(const Arguments& arguments,
                                                        const SettingSources& sources);

}  // namespace trainyard::cli
