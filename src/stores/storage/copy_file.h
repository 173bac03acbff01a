#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace trainyard::storage {

/// Appends `length` bytes of `source` from `offset` on (fewer at its end) at the target's offset, inside the
/// kernel if the file system can. Blocks. kResourceExhausted: the disk is full.
[[nodiscard]] Status CopyBytes(int source, std::uint64_t offset, std::uint64_t length, int target);

/// Passes `length` bytes of an open file from `offset` on to `take`, piece by piece. Blocks. kAborted: the
/// file is shorter. Otherwise the error of `take`.
[[nodiscard]] Status ReadPieces(int source, std::uint64_t offset, std::uint64_t length,
                                const std::function<Status(std::string_view)>& take);

}  // namespace trainyard::storage
