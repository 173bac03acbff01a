#pragma once

#include <string_view>

namespace trainyard::cli {

/// From which sources, and how, this program was built. The source file is written by each build
/// (cmake/BuildInfo.cmake). Any thread.
struct BuildInfo {
  std::string_view version;  ///< of the CMake project: its one home
  std::string_view commit;   ///< git's full name, with "-dirty" behind it for changed files; else "unknown"
  std::string_view build_type;  ///< CMAKE_BUILD_TYPE: "Release"
};

[[nodiscard]] BuildInfo ThisBuild() noexcept;

}  // namespace trainyard::cli
