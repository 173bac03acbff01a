#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace trainyard::environment {

/// Makes `layer` an empty virtual environment over the one in `runtime`: pyvenv.cfg, interpreter links, and a
/// .pth file that appends the runtime's site-packages, its own .pth files included. Errors of the file
/// system.
[[nodiscard]] Status WriteLayerSkeleton(const std::filesystem::path& runtime,
                                        const std::filesystem::path& layer,
                                        const std::string& python_version);

/// Gives the layer a copy of each of the runtime's Python commands that it does not have itself, run by the
/// layer's interpreter: a command line tool of the runtime must see the job's packages too. Errors of the
/// file system.
[[nodiscard]] Status RetargetScripts(const std::filesystem::path& runtime,
                                     const std::filesystem::path& layer);

}  // namespace trainyard::environment
