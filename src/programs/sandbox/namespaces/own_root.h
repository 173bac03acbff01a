#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/sandbox/namespaces/file_view.h"

namespace trainyard::replica {

/// Gives the calling process, which must be in a mount namespace of its own with private mounts, a root of
/// its own: what the machine's has, directories and files mounted and links copied, and the empty directories
/// `added` (absolute, right below the root), which cannot be made in the machine's. Nothing can be written in
/// the root itself. The process is in the new root afterwards; the old one is gone.
///
/// Stops at the first step that the kernel refuses: EINVAL of pivot_root is a machine whose root is its
/// initial ram disk. Source: pivot_root(2), "pivot_root(".", ".")".
[[nodiscard]] std::optional<ViewFailure> MoveToOwnRoot(const std::vector<std::string>& added);

}  // namespace trainyard::replica
