#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "environment/available_pythons.h"
#include "environment/environment.h"

namespace trainyard::environment {

/// Looks for interpreters: python3.N in /usr/bin, /usr/local/bin and on PATH, those that uv or pyenv
/// installed, and those in ENVIRONMENTS_DIR/pythons. Runs each once to find its version; in that order, the
/// first of a version is taken. About 10 ms for each. Blocks; any thread.
[[nodiscard]] AvailablePythons ProbePythons(const std::filesystem::path& environments_dir);

/// Has uv download an interpreter into ENVIRONMENTS_DIR/pythons. kUnavailable or kFailedPrecondition with
/// uv's reason. Blocks for as long as the download takes; any thread.
[[nodiscard]] Status DownloadPython(const std::filesystem::path& environments_dir, std::string_view version,
                                    const PreparationHooks& hooks);

}  // namespace trainyard::environment
