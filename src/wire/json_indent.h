#pragma once

#include <string>
#include <string_view>

namespace trainyard::wire {

/// Compact JSON (one line, well-formed) as the APIs show it: two spaces a level, "key": value, newline at the
/// end. Pure: any thread.
[[nodiscard]] std::string IndentJson(std::string_view compact);

}  // namespace trainyard::wire
