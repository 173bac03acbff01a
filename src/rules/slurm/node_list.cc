#include "rules/slurm/node_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>

namespace trainyard::slurm {

namespace {

constexpr std::string_view kHeader = "PARTITION|";

/// The text up to the mark, which is taken away too; all of it if there is none.
std::string_view TakeUntil(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

std::optional<std::int64_t> Number(std::string_view text) {
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
  const std::optional<std::int64_t> cpu_count = Number(cpus);
  const std::optional<std::int64_t> memory_mib = Number(memory);
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
        Number(colon == std::string_view::npos ? item : item.substr(colon + 1));
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
    const std::optional<std::int64_t> number = Number(TakeUntil(text, '-'));
    if (!number) return -1;
    days = *number;
  }
  std::vector<std::int64_t> parts;
  do {
    const std::optional<std::int64_t> number = Number(TakeUntil(text, ':'));
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
