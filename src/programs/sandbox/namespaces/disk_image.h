#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/sandbox/namespaces/file_view.h"

/// A file system of a given size in a file, which limits the disk space of a replica. Needs root on the
/// machine.
namespace trainyard::replica {

/// The smallest size of such a file system.
inline constexpr std::int64_t kDiskImageBytesMin = std::int64_t{4} << 20;

/// Whether this process may mount one here.
[[nodiscard]] bool CanMountDiskImages();

/// Makes the file, which is sparse. Blocks for about 20 ms.
[[nodiscard]] Status MakeDiskImage(const std::string& path, std::int64_t bytes);

/// Mounts it on the directory. The process must be in a private mount namespace; the mount and its device end
/// with that namespace.
[[nodiscard]] std::optional<ViewFailure> MountDiskImage(const std::string& path, const std::string& folder);

}  // namespace trainyard::replica
