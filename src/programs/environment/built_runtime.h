#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/environment.h"
#include "programs/environment/runtime_version.h"
#include "trainyard/control/v1/runtimes.pb.h"

/// The runtime versions that are built on this disk. These functions take the same locks as builders and
/// users of a runtime, so they may be called while a server runs. Blocking; any thread.
namespace trainyard::environment {

struct BuiltRuntime {
  std::filesystem::path folder;
  std::string python;       ///< "3.11"
  std::uint64_t bytes = 0;  ///< on the disk, including files that it shares with other environments
  std::optional<std::chrono::system_clock::time_point> last_use;
  std::vector<std::filesystem::path> layers;  ///< packages of jobs that are installed on it
};

/// Empty if it is not built. The size is that of SizeOf.
[[nodiscard]] std::optional<BuiltRuntime> FindBuilt(const std::filesystem::path& environments_dir,
                                                    const RuntimeVersion& runtime);

/// Whether it is being built right now.
[[nodiscard]] bool IsBeingBuilt(const std::filesystem::path& environments_dir, const RuntimeVersion& runtime);

/// Removes it, the layers on it, and the directories of previous definitions of the same version. Returns the
/// number of bytes. Errors: kFailedPrecondition while a replica runs in it or it is being built, kNotFound if
/// there is nothing to remove.
[[nodiscard]] Result<std::uint64_t> RemoveBuilt(const std::filesystem::path& environments_dir,
                                                const RuntimeVersion& runtime);

// Runtime versions and layers as directories that can be removed, whichever definition made them. Takes the
// locks of builders and users, so it may be called while a server runs. Blocking; any thread.

struct EnvironmentFolder {
  std::filesystem::path path;
  bool is_complete = false;  ///< otherwise it is being built, or a build left it
  /// When a program last started in it; otherwise when it was built or last changed.
  std::chrono::system_clock::time_point last_used;
  std::int64_t bytes = 0;  ///< on the disk; only with `with_bytes`
};

/// @param with_bytes  also walks through all of their files.
[[nodiscard]] std::vector<EnvironmentFolder> ListEnvironmentFolders(
    const std::filesystem::path& environments_dir, bool with_bytes);

/// The directories that programs of these requests use or will use.
[[nodiscard]] std::set<std::filesystem::path> FoldersOf(std::span<const EnvironmentRequest> requests);

/// Removes a directory of ListEnvironmentFolders; for a runtime version, also the layers on it. Returns the
/// number of bytes. Errors as RemoveBuilt.
[[nodiscard]] Result<std::uint64_t> RemoveEnvironmentFolder(const std::filesystem::path& environments_dir,
                                                            const std::filesystem::path& folder);

/// When a build last used what pip and uv keep of their downloads (Layout::Cache), which no version needs.
/// Empty if there is none.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> DownloadCacheUse(
    const std::filesystem::path& environments_dir);
/// Its size on the disk. After a build it is walked, which takes seconds: for those who need it only.
[[nodiscard]] std::uint64_t DownloadCacheBytes(const std::filesystem::path& environments_dir);
/// Returns the number of bytes. Errors: kFailedPrecondition while a build uses it, kNotFound if there is
/// none.
[[nodiscard]] Result<std::uint64_t> RemoveDownloadCache(const std::filesystem::path& environments_dir);

/// Describes one version or tool, for servers and for commands without one; ListRuntimes sets whether it is
/// the default.
[[nodiscard]] control::v1::Runtime DescribeRuntime(const std::filesystem::path& environments_dir,
                                                   const RuntimeVersion& runtime,
                                                   const AvailablePythons& available);

/// Lists all versions of the catalogue, then the tools that they refer to. `default_version`: that of jobs
/// that name none.
[[nodiscard]] control::v1::RuntimeList ListRuntimes(const std::filesystem::path& environments_dir,
                                                    const Catalogue& catalogue,
                                                    std::string_view default_version,
                                                    const AvailablePythons& available);

}  // namespace trainyard::environment
