#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::replica {

/// The text with every byte that is not part of well-formed UTF-8 (RFC 3629: no surrogates, no overlong
/// forms) replaced by U+FFFD. Protobuf strings and JSON need it. Pure: any thread.
[[nodiscard]] std::string ReplaceInvalidUtf8(std::string text);

/// The largest size <= `bytes_max` at which `text` can be cut without cutting a character apart. Bytes that
/// are no UTF-8 are cut anywhere.
[[nodiscard]] std::size_t Utf8Prefix(std::string_view text, std::size_t bytes_max) noexcept;

}  // namespace trainyard::replica
