#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 as RFC 3629 and Unicode 15, table 3-7, have it: no surrogates, nothing overlong. Pure: any thread.
namespace trainyard::wire {

/// Bytes of the well-formed character that `text` begins with; 0 if it begins with none.
[[nodiscard]] std::size_t Utf8Length(std::string_view text) noexcept;

/// Whether the bytes are well-formed UTF-8.
[[nodiscard]] bool IsUtf8(std::string_view text) noexcept;

/// The text with U+FFFD for each byte that belongs to no well-formed character: what may go into JSON and
/// into protobuf's strings.
[[nodiscard]] std::string ReplaceMalformed(std::string_view text);

/// The largest size <= `bytes_max` at which `text` can be cut without cutting a character apart. Bytes that
/// are no UTF-8 are cut anywhere.
[[nodiscard]] std::size_t Utf8Prefix(std::string_view text, std::size_t bytes_max) noexcept;

}  // namespace trainyard::wire
