#pragma once

#include <string>
#include <string_view>

namespace trainyard::configuration {

/// A value as YAML that Read takes for the same text: plain where that is safe, else in double quotes. Pure:
/// any thread.
[[nodiscard]] std::string ScalarText(std::string_view value);

}  // namespace trainyard::configuration
