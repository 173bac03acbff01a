#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// SHA-256 in lower-case hexadecimal. Any thread.
namespace trainyard::tls {

[[nodiscard]] std::string Sha256Hex(std::string_view bytes);
/// Hashes an open file from its beginning; the file offset is not used. Blocks while reading the file.
[[nodiscard]] Result<std::string> Sha256HexOfFile(int descriptor);

}  // namespace trainyard::tls
