#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace trainyard::storage {

/// Appends all of `source` (from its start) at the target's offset, inside the kernel where the file system
/// can. Blocks. kResourceExhausted: the disk is full.
[[nodiscard]] Status CopyBytes(int source, int target);

/// Hands the first `length` bytes of an open file, wherever its offset is, to `take`, piece by piece. Blocks.
/// kAborted: the file is shorter. Or what `take` said.
[[nodiscard]] Status ReadPieces(int source, std::uint64_t length,
                                const std::function<Status(std::string_view)>& take);

}  // namespace trainyard::storage
