#pragma once

#include <cstdint>

#include "base/result.h"

namespace trainyard::storage {

/// Appends all of `source` (from its start) at the target's offset, inside the kernel where the file system
/// can. Blocks. kResourceExhausted: the disk is full.
[[nodiscard]] Status CopyBytes(int source, int target);

}  // namespace trainyard::storage
