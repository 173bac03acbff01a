#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/environment/available_pythons.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

/// The version that is installed where there is no uv.
inline constexpr std::string_view kUvVersion = "0.13.8";

/// uv from PATH or from ENVIRONMENTS_DIR/tools; empty if neither has it. No process.
[[nodiscard]] std::filesystem::path FindUv(const Layout& layout);

/// FindUv, else installs it with pip into ENVIRONMENTS_DIR/tools, using that interpreter. Serialised by a
/// lock there. The reason is pip's; a caller without uv uses venv and pip instead. Blocks; any thread.
[[nodiscard]] Result<std::filesystem::path> ObtainUv(const Layout& layout, const Python& python,
                                                     const PreparationHooks& hooks);

/// Where the code that tools run may write between builds.
enum class ToolCache {
  kNone,      ///< for packages of jobs: what one job's packages leave there would reach the next job
  kRuntimes,  ///< shared by the builds of runtimes, whose packages the operator names
};

/// All variables for uv and pip: of this process's only those that IsToolSetting names, the system's
/// certificates, the index that pip is configured to use (also for uv, which reads its own settings only),
/// the cache. Settings of configuration files are among them: pip is told to read none.
[[nodiscard]] std::map<std::string, std::optional<std::string>> ToolVariables(const Layout& layout,
                                                                              ToolCache cache);

/// Files and folders outside that the variables name: certificates, folders of packages.
[[nodiscard]] std::vector<std::string> FilesNamedIn(
    const std::map<std::string, std::optional<std::string>>& variables);

}  // namespace trainyard::environment
