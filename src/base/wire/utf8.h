#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 by RFC 3629 and Unicode 15, table 3-7: no surrogates, no overlong forms. Pure: any thread.
namespace trainyard::wire {

/// The size of the well-formed character at the beginning of `text`; 0 if there is none.
[[nodiscard]] std::size_t Utf8Length(std::string_view text) noexcept;

/// Whether the bytes are well-formed UTF-8.
[[nodiscard]] bool IsUtf8(std::string_view text) noexcept;

/// The text with U+FFFD for each byte that is not part of a well-formed character, so that JSON and protobuf
/// strings may contain it.
[[nodiscard]] std::string ReplaceMalformed(std::string_view text);

/// The largest size <= `bytes_max` at which `text` can be cut without splitting a character. Bytes that are
/// not UTF-8 may be split anywhere.
[[nodiscard]] std::size_t Utf8Prefix(std::string_view text, std::size_t bytes_max) noexcept;

}  // namespace trainyard::wire
