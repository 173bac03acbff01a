#pragma once

#include <algorithm>
#include <string>
#include <string_view>

/// Letters and blanks of ASCII, independent of the locale; other bytes are not changed. Pure: any thread.
namespace trainyard {

[[nodiscard]] constexpr char ToLower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] inline std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ToLower(c);
  return lower;
}

[[nodiscard]] inline bool EqualsIgnoringCase(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return ToLower(x) == ToLower(y); });
}

/// The text without leading and trailing blanks and line ends.
[[nodiscard]] constexpr std::string_view TrimSpace(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace trainyard
