#include "base/wire/filter_operand.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/wire/time.h"

namespace trainyard::wire {

std::optional<long double> ReadNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  const std::string_view unsigned_text = text.substr(negative ? 1 : 0);
  if (unsigned_text.empty()) return std::nullopt;
  // from_chars of libstdc++ 12 reads beyond the end of a text that begins like these.
  if (ToLower(unsigned_text[0]) == 'n' || ToLower(unsigned_text[0]) == 'i') {
    using Limits = std::numeric_limits<long double>;
    if (EqualsIgnoringCase(unsigned_text, "nan")) return Limits::quiet_NaN();
    if (!EqualsIgnoringCase(unsigned_text, "infinity")) return std::nullopt;
    return negative ? -Limits::infinity() : Limits::infinity();
  }
  long double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> ReadBool(std::string_view text) {
  if (EqualsIgnoringCase(text, "true")) return true;
  if (EqualsIgnoringCase(text, "false")) return false;
  return std::nullopt;
}

std::optional<SysTime> ReadTime(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  const auto time =
      ParseTime(text.size() == kDateLength ? std::string(text) + "T00:00:00Z" : std::string(text));
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<std::chrono::nanoseconds> ReadLength(std::string_view text) {
  // Longer ones first: "ms" ends in "s".
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{
      {{"ns", 1},
       {"us", 1'000},
       {"ms", 1'000'000},
       {"s", 1'000'000'000},
       {"m", 60'000'000'000},
       {"h", 3'600'000'000'000}}};
  const auto* unit =
      std::ranges::find_if(kUnits, [&](const auto& candidate) { return text.ends_with(candidate.first); });
  if (unit == kUnits.end()) return std::nullopt;
  const auto count = ReadNumber(text.substr(0, text.size() - unit->first.size()));
  if (!count) return std::nullopt;
  const long double length = std::round(*count * static_cast<long double>(unit->second));
  constexpr auto kMax = static_cast<long double>(std::numeric_limits<std::int64_t>::max());
  if (!(std::abs(length) < kMax)) return std::nullopt;  // also false for a NaN
  return std::chrono::nanoseconds(static_cast<std::int64_t>(length));
}

const google::protobuf::EnumValueDescriptor* FindEnumValue(const google::protobuf::EnumDescriptor& type,
                                                           std::string_view text) {
  const auto number = ReadNumber(text);
  for (int i = 0; i < type.value_count(); ++i) {
    const auto* value = type.value(i);
    if (EqualsIgnoringCase(value->name(), text) || (number && *number == value->number())) return value;
  }
  return nullptr;
}

bool MatchesGlob(std::string_view text, std::string_view pattern, bool any_case) {
  const auto is_same = [any_case](char a, char b) {
    return a == b || (any_case && ToLower(a) == ToLower(b));
  };
  // On a mismatch the last star takes one more character. No recursion, at most text * pattern steps.
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && is_same(pattern[p], text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool AsksForPresence(const Comparison& comparison) {
  return comparison.comparator == Comparator::kHas && comparison.value == "*" && !comparison.quoted;
}

}  // namespace trainyard::wire
