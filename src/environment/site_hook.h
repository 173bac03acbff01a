#pragma once

#include <filesystem>

#include "base/result.h"

namespace trainyard::environment {

/// Writes site/sitecustomize.py below the environments directory, if it is not there with these contents
/// already. The server does so at its start, preparation if it is missing. Errors of the file system.
[[nodiscard]] Status InstallSiteHook(const std::filesystem::path& environments_dir);

}  // namespace trainyard::environment
