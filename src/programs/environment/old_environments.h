#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "programs/environment/environment.h"

/// Runtime versions and layers as folders that may go, whichever definition made them. Takes the locks of
/// builders and users, so it may be called while a server runs. Blocking; any thread.
namespace trainyard::environment {

struct EnvironmentFolder {
  std::filesystem::path path;
  bool is_complete = false;  ///< else a build left it, or is at it
  /// When a program last began in it; else when it was built, or last changed.
  std::chrono::system_clock::time_point last_used;
  std::int64_t bytes = 0;  ///< on the disk; only if asked for
};

/// @param with_bytes  also walks through all of their files.
[[nodiscard]] std::vector<EnvironmentFolder> ListEnvironmentFolders(
    const std::filesystem::path& environments_dir, bool with_bytes);

/// The folders that programs of these requests use or will use.
[[nodiscard]] std::set<std::filesystem::path> FoldersOf(std::span<const EnvironmentRequest> requests);

/// Removes one of ListEnvironmentFolders; of a runtime version also the layers on it. Returns the number of
/// bytes. Errors as RemoveBuilt.
[[nodiscard]] Result<std::uint64_t> RemoveEnvironmentFolder(const std::filesystem::path& environments_dir,
                                                            const std::filesystem::path& folder);

}  // namespace trainyard::environment
