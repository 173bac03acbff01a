#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "environment/runtime_version.h"

/// What of the runtime versions is on this disk. These functions go by the same locks as those who build and
/// use: they may be called beside a running server. Blocking; any thread.
namespace trainyard::environment {

struct BuiltRuntime {
  std::filesystem::path folder;
  std::string python;       ///< "3.11"
  std::uint64_t bytes = 0;  ///< on the disk; what it shares with other environments is counted, too
  std::optional<std::chrono::system_clock::time_point> last_use;
  std::vector<std::filesystem::path> layers;  ///< packages of jobs that are installed on it
};

/// Nothing if it is not built. Walks the whole folder.
[[nodiscard]] std::optional<BuiltRuntime> FindBuilt(const std::filesystem::path& environments_dir,
                                                    const RuntimeVersion& runtime);

/// Whether somebody builds it right now.
[[nodiscard]] bool IsBeingBuilt(const std::filesystem::path& environments_dir, const RuntimeVersion& runtime);

/// Removes it, the layers on it, and what former definitions of the same version left. Returns how many bytes
/// that were. Errors: kFailedPrecondition while a replica runs in it or somebody builds it, kNotFound if
/// nothing of it is there.
[[nodiscard]] Result<std::uint64_t> RemoveBuilt(const std::filesystem::path& environments_dir,
                                                const RuntimeVersion& runtime);

}  // namespace trainyard::environment
