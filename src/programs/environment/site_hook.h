#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace trainyard::environment {

/// site/sitecustomize.py, which is compiled in. Lives as long as the program.
[[nodiscard]] std::string_view EmbeddedSiteCustomize() noexcept;

/// Writes site/sitecustomize.py below the environments directory, unless it already exists with these
/// contents. The server does so at its start, and preparation if it is missing. Errors: those of the file
/// system.
[[nodiscard]] Status InstallSiteHook(const std::filesystem::path& environments_dir);

}  // namespace trainyard::environment
