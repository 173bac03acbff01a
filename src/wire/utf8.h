#pragma once

#include <string>
#include <string_view>

namespace trainyard::wire {

/// Whether the bytes are well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, nothing overlong). Pure:
/// any thread.
[[nodiscard]] bool IsUtf8(std::string_view text) noexcept;

/// The text with U+FFFD for each byte that belongs to no well-formed character: what may go into JSON.
[[nodiscard]] std::string ReplaceMalformed(std::string_view text);

}  // namespace trainyard::wire
