#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace trainyard::cli {

/// "3600s", "30m", "8h", "90d": whole numbers above 0. Nothing: another text, or more than a century. Pure.
[[nodiscard]] std::optional<std::chrono::seconds> ParseLife(std::string_view text);

}  // namespace trainyard::cli
