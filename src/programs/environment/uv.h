#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

/// The version that is installed if there is no uv.
inline constexpr std::string_view kUvVersion = "0.13.8";

/// Finds uv on PATH or in ENVIRONMENTS_DIR/tools; empty if neither has it. Starts no process.
[[nodiscard]] std::filesystem::path FindUv(const Layout& layout);

/// Calls FindUv, otherwise installs uv with pip into ENVIRONMENTS_DIR/tools, using that interpreter.
/// Serialised by a lock there. An error has pip's reason; a caller without uv uses venv and pip instead.
/// Blocks; any thread.
[[nodiscard]] Result<std::filesystem::path> ObtainUv(const Layout& layout, const Python& python,
                                                     const PreparationHooks& hooks);

/// The cache into which code that tools run may write; it outlives a build.
enum class ToolCache {
  kNone,      ///< for packages of jobs: what one job's packages leave there would reach the next job
  kRuntimes,  ///< shared by the builds of runtimes, whose packages the operator names
};

/// All environment variables for uv and pip: those of this process that IsToolSetting accepts, the system's
/// certificates, the index that pip is configured to use (also for uv, which reads its own settings only),
/// and the cache. They include the settings of pip's configuration files, since pip is told to read none.
[[nodiscard]] std::map<std::string, std::optional<std::string>> ToolVariables(const Layout& layout,
                                                                              ToolCache cache);

/// Files and directories that the variables name: certificates, directories of packages.
[[nodiscard]] std::vector<std::string> FilesNamedIn(
    const std::map<std::string, std::optional<std::string>>& variables);

}  // namespace trainyard::environment
