#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/// Numbers in texts. Pure: any thread.
namespace trainyard::text {

/// The number that the whole text is, as std::from_chars reads it; nothing: it is no such number, or too
/// large.
template <class Number>
[[nodiscard]] std::optional<Number> ParseNumber(std::string_view text) noexcept {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// "1 job", "2 jobs".
[[nodiscard]] inline std::string Counted(std::int64_t number, std::string_view what) {
  return std::to_string(number).append(" ").append(what).append(number == 1 ? "" : "s");
}

}  // namespace trainyard::text
