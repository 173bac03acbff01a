#pragma once

#include <string>
#include <string_view>

namespace trainyard::wire {

struct JsonValue;

/// The inverse of IndentJson: well-formed JSON without the blanks and line ends between its tokens.
/// Pure: any thread.
[[nodiscard]] std::string CompactJson(std::string_view text);

/// A document as one line; numbers as they were written. Pure: any thread.
[[nodiscard]] std::string PrintJsonTree(const JsonValue& value);

}  // namespace trainyard::wire
