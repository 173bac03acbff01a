#pragma once

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/gcloud/output_format.h"

namespace trainyard::cli {

/// From which sources, and how, this program was built. The source file is written by each build
/// (cmake/BuildInfo.cmake). Any thread.
struct BuildInfo {
  std::string_view version;  ///< of the CMake project: its one home
  std::string_view commit;   ///< git's full name, with "-dirty" behind it for changed files; else "unknown"
  std::string_view build_type;  ///< CMAKE_BUILD_TYPE: "Release"
};

[[nodiscard]] BuildInfo ThisBuild() noexcept;

/// "trainyard 0.1.0 (commit 0123456789ab, Release)", or the three as a resource in the format that was asked
/// for. Pure: any thread.
[[nodiscard]] std::string VersionText(const BuildInfo& build, const OutputFormat& format);

/// `version`, `--version`.
[[nodiscard]] ExitStatus PrintVersion(const LocalSession& session);

}  // namespace trainyard::cli
