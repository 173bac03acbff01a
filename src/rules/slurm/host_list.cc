#include "rules/slurm/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace trainyard::slurm {

namespace {

/// The text before the mark outside of brackets, which is taken away too.
std::string_view TakeItem(std::string_view& list, char mark) {
  std::size_t end = 0;
  for (int depth = 0; end < list.size() && (depth > 0 || list[end] != mark); ++end) {
    if (list[end] == '[') ++depth;
    if (list[end] == ']') --depth;
  }
  const std::string_view item = list.substr(0, end);
  list.remove_prefix(std::min(list.size(), end + 1));
  return item;
}

std::optional<std::int64_t> Number(std::string_view digits) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || rest != digits.data() + digits.size()) return std::nullopt;
  return number;
}

/// "3", "1-3", "001-010": as many digits as the first number has, if it begins with a zero.
bool IsInRange(std::string_view range, std::string_view digits) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  const bool is_padded = first.starts_with('0') && first.size() > 1;
  if (is_padded ? digits.size() != first.size() : digits.size() > 1 && digits.starts_with('0')) return false;
  const auto low = Number(first);
  const auto high = Number(last);
  const auto number = Number(digits);
  return low && high && number && *low <= *number && *number <= *high;
}

bool IsInRanges(std::string_view ranges, std::string_view digits) {
  while (!ranges.empty())
    if (IsInRange(TakeItem(ranges, ','), digits)) return true;
  return false;
}

bool IsOne(std::string_view pattern, std::string_view node) {
  const std::size_t bracket = pattern.find('[');
  const std::string_view prefix = pattern.substr(0, bracket);
  if (bracket == std::string_view::npos) return node == prefix;
  const std::size_t close = pattern.find(']', bracket);
  if (close == std::string_view::npos || !node.starts_with(prefix)) return false;
  const std::string_view ranges = pattern.substr(bracket + 1, close - bracket - 1);
  const std::string_view rest = node.substr(prefix.size());
  const std::size_t most = std::min(rest.find_first_not_of("0123456789"), rest.size());
  for (std::size_t digits = 1; digits <= most; ++digits)
    if (IsInRanges(ranges, rest.substr(0, digits)) && IsOne(pattern.substr(close + 1), rest.substr(digits)))
      return true;
  return false;
}

}  // namespace

bool NamesNode(std::string_view list, std::string_view node) {
  while (!list.empty())
    if (IsOne(TakeItem(list, ','), node)) return true;
  return false;
}

}  // namespace trainyard::slurm
