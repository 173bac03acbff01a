#pragma once

#include <string>
#include <string_view>

namespace trainyard::wire {

/// Formats compact JSON (one line, well-formed) as the APIs show it: two spaces per level, "key": value,
/// newline at the end. Pure: any thread.
[[nodiscard]] std::string IndentJson(std::string_view compact);

/// The inverse of IndentJson: well-formed JSON without the blanks and line ends between its tokens.
/// Pure: any thread.
[[nodiscard]] std::string CompactJson(std::string_view text);

}  // namespace trainyard::wire
