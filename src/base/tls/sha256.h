#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// SHA-256 in lower-case hexadecimal. Any thread.
namespace trainyard::tls {

[[nodiscard]] std::string Sha256Hex(std::string_view bytes);
/// Of an open file, from its beginning; its position is not used. Blocks for as long as it takes to read.
[[nodiscard]] Result<std::string> Sha256HexOfFile(int descriptor);

}  // namespace trainyard::tls
