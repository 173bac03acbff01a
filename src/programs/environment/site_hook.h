#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace trainyard::environment {

struct Layout;

/// site/sitecustomize.py, which is compiled in. Lives as long as the program.
[[nodiscard]] std::string_view EmbeddedSiteCustomize() noexcept;

/// Writes the modules of site/ below the environments directory, except those that already exist with these
/// contents. The server does so at its start, and preparation if one is missing. Errors: those of the file
/// system.
[[nodiscard]] Status InstallSiteHook(const std::filesystem::path& environments_dir);

/// Whether all modules of site/ exist: a few system calls.
[[nodiscard]] bool HasSiteHook(const Layout& layout);

}  // namespace trainyard::environment
