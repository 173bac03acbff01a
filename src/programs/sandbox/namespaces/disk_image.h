#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/sandbox/namespaces/file_view.h"

/// A file system of a given size in a file: what limits the files of a replica. Needs the machine's root.
namespace trainyard::replica {

/// The smallest that a file system is made of.
inline constexpr std::int64_t kDiskImageBytesMin = std::int64_t{4} << 20;

/// Whether this process may mount one here.
[[nodiscard]] bool CanMountDiskImages();

/// Makes the file, which takes no more space than what is written into it. Blocks for about 20 ms.
[[nodiscard]] Status MakeDiskImage(const std::string& path, std::int64_t bytes);

/// Mounts it on the directory; for a process in a mount namespace of its own, with which the mount and its
/// device end.
[[nodiscard]] std::optional<ViewFailure> MountDiskImage(const std::string& path, const std::string& folder);

}  // namespace trainyard::replica
