#include "cli/auth/life_text.h"

#include <charconv>
#include <cstdint>

namespace trainyard::cli {

std::optional<std::chrono::seconds> ParseLife(std::string_view text) {
  using std::chrono::seconds;
  constexpr std::int64_t kNumberMax = std::int64_t{100} * 366 * 24 * 3'600;
  if (text.size() < 2) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end || number <= 0 || number > kNumberMax) return std::nullopt;
  std::int64_t unit = 0;
  switch (text.back()) {
    case 's': unit = 1; break;
    case 'm': unit = seconds(std::chrono::minutes(1)).count(); break;
    case 'h': unit = seconds(std::chrono::hours(1)).count(); break;
    case 'd': unit = seconds(std::chrono::days(1)).count(); break;
    default: return std::nullopt;
  }
  if (number > kNumberMax / unit) return std::nullopt;
  return seconds(number * unit);
}

}  // namespace trainyard::cli
