#include "server/options/rule_texts.h"

#include <charconv>

namespace trainyard::server {

Status Refuse(std::string why) { return std::unexpected(InvalidArgument("", std::move(why))); }

Result<std::pair<std::string, std::string>> SplitRule(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return std::unexpected(InvalidArgument("", "'" + text + "' is not NAME=VALUE"));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

std::optional<std::int64_t> ReadCount(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < 1 || number > most)
    return std::nullopt;
  return number;
}

std::optional<std::int64_t> ReadMebibytes(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  std::int64_t factor = 1;
  if (text.ends_with('T')) factor = std::int64_t{1} << 20;
  if (text.ends_with('G')) factor = std::int64_t{1} << 10;
  if (text.ends_with('T') || text.ends_with('G') || text.ends_with('M')) text.remove_suffix(1);
  const std::optional<std::int64_t> number = ReadCount(text, kMost / factor);
  if (!number) return std::nullopt;
  return *number * factor;
}

Status AddLabel(const std::string& text, std::map<std::string, std::string>& labels) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  const std::size_t equals = text.find('=');
  const bool is_label = equals != std::string::npos && equals > 0 &&
                        text.find_first_not_of(kLetters) == equals &&
                        text.find_first_not_of(kLetters, equals + 1) == std::string::npos;
  if (!is_label) return Refuse("'" + text + "' is not LABEL=VALUE, a label of nodes");
  if (labels.emplace(text.substr(0, equals), text.substr(equals + 1)).second) return {};
  return Refuse("the label '" + text.substr(0, equals) + "' is given twice");
}

}  // namespace trainyard::server
