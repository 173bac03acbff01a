#include "rules/slurm/node_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

namespace trainyard::slurm {

namespace {

/// Removes and returns the text before a mark outside of brackets; removes the mark, too.
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

constexpr std::string_view kHeader = "PARTITION|";

/// Removes and returns the text before the mark, or all of it if there is no mark; removes the mark, too.
std::string_view TakeUntil(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

std::optional<std::int64_t> Amount(std::string_view text) {
  if (text.ends_with('+')) text.remove_suffix(1);  // "4+": nodes of several sizes on one line
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<Node> ParseLine(std::string_view line) {
  std::array<std::string_view, 8> fields;
  for (std::string_view& field : fields) field = TakeUntil(line, '|');
  auto [partition, name, cpus, memory, limit, available, state, address] = fields;
  const std::optional<std::int64_t> cpu_count = Amount(cpus);
  const std::optional<std::int64_t> memory_mib = Amount(memory);
  const std::int64_t minutes = ParseTimeLimitMinutes(limit);
  if (!cpu_count || !memory_mib || minutes < 0 || partition.empty() || name.empty()) return std::nullopt;
  const bool is_default = partition.ends_with('*');
  if (is_default) partition.remove_suffix(1);
  return Node{.partition = std::string(partition),
              .default_partition = is_default,
              .partition_up = available == "up",
              .time_limit_minutes = minutes,
              .name = std::string(name),
              .cpus = static_cast<int>(*cpu_count),
              .memory_mib = *memory_mib,
              .state = std::string(state),
              .address = std::string(address),
              .gpus = ParseGpus(line)};
}

}  // namespace

bool NamesNode(std::string_view list, std::string_view node) {
  while (!list.empty())
    if (IsOne(TakeItem(list, ','), node)) return true;
  return false;
}

std::vector<NodeGpus> ParseGpus(std::string_view text) {
  std::vector<NodeGpus> gpus;
  while (!text.empty()) {
    std::string_view item = text;
    std::size_t depth = 0;
    std::size_t end = 0;
    for (; end < text.size() && (depth > 0 || text[end] != ','); ++end) {
      if (text[end] == '(') ++depth;
      if (text[end] == ')' && depth > 0) --depth;
    }
    item = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    item = item.substr(0, item.find('('));
    if (!item.starts_with("gpu:")) continue;
    item.remove_prefix(4);
    const std::size_t colon = item.rfind(':');
    const std::optional<std::int64_t> count =
        Amount(colon == std::string_view::npos ? item : item.substr(colon + 1));
    if (!count || *count == 0) continue;
    gpus.push_back({.type = std::string(colon == std::string_view::npos ? "" : item.substr(0, colon)),
                    .count = static_cast<int>(*count)});
  }
  return gpus;
}

std::vector<Node> KindsOf(std::span<const Node> nodes) {
  const auto kind = [](const Node* node) {
    return std::tie(node->partition, node->default_partition, node->partition_up, node->time_limit_minutes,
                    node->cpus, node->memory_mib, node->gpus);
  };
  const auto comes_before = [kind](const Node* one, const Node* other) { return kind(one) < kind(other); };
  std::set<const Node*, decltype(comes_before)> known(comes_before);
  std::vector<Node> kinds;
  for (const Node& node : nodes)
    if (IsUsable(node) && known.insert(&node).second) kinds.push_back(node);
  return kinds;
}

std::int64_t ParseTimeLimitMinutes(std::string_view text) {
  if (text == "infinite" || text == "UNLIMITED" || text == "n/a") return 0;
  std::int64_t days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const std::optional<std::int64_t> number = Amount(TakeUntil(text, '-'));
    if (!number) return -1;
    days = *number;
  }
  std::vector<std::int64_t> parts;
  do {
    const std::optional<std::int64_t> number = Amount(TakeUntil(text, ':'));
    if (!number) return -1;
    parts.push_back(*number);
  } while (!text.empty());
  if (parts.size() > 3) return -1;
  std::int64_t hours = 0;
  std::int64_t minutes = 0;
  if (parts.size() == 3) hours = parts[0], minutes = parts[1];  // the rest is seconds
  if (parts.size() == 2) minutes = parts[0];
  if (parts.size() == 1) minutes = parts[0];
  return (days * 24 + hours) * 60 + minutes;
}

Result<std::vector<Node>> ParseNodeList(std::string_view lines) {
  const std::string_view header = TakeUntil(lines, '\n');
  if (!header.starts_with(kHeader))
    return std::unexpected(Error{Code::kInternal, "sinfo printed no list: " + std::string(header), {}});
  std::vector<Node> nodes;
  while (!lines.empty()) {
    const std::string_view line = TakeUntil(lines, '\n');
    if (line.empty()) continue;
    std::optional<Node> node = ParseLine(line);
    if (!node)
      return std::unexpected(
          Error{Code::kInternal, "sinfo printed a line that is not understood: " + std::string(line), {}});
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

bool IsUsable(const Node& node) {
  constexpr std::array<std::string_view, 6> kBroken{"down", "drain", "drng", "fail", "unk", "inval"};
  return std::ranges::none_of(kBroken,
                              [&node](std::string_view word) { return node.state.starts_with(word); });
}

}  // namespace trainyard::slurm
