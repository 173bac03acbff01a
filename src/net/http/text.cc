#include "net/http/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard::http {

namespace {

constexpr std::array<bool, 256> kTokenCharacters = [] {
  std::array<bool, 256> table{};
  for (unsigned char c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (unsigned char c = '0'; c <= '9'; ++c) table[c] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool IsZeroWeight(std::string_view parameters) {
  const std::size_t equals = parameters.find('=');
  if (equals == std::string_view::npos || !EqualsIgnoringCase(Trim(parameters.substr(0, equals)), "q"))
    return false;
  const std::string_view weight = Trim(parameters.substr(equals + 1));
  return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool IsToken(std::string_view text) noexcept {
  const auto in_table = [](char c) { return kTokenCharacters[static_cast<unsigned char>(c)]; };
  return !text.empty() && std::ranges::all_of(text, in_table);
}

bool IsFieldValue(std::string_view text) noexcept {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::string_view Trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

void ForEachElement(std::string_view list, const std::function<void(std::string_view)>& visit) {
  while (!list.empty()) {
    const std::string_view element = list.substr(0, list.find(','));
    list.remove_prefix(std::min(element.size() + 1, list.size()));
    if (const std::string_view trimmed = Trim(element); !trimmed.empty()) visit(trimmed);
  }
}

std::optional<std::uint64_t> ParseDecimal(std::string_view text) noexcept {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  bool accepted = false;
  ForEachElement(accept_encoding, [&accepted](std::string_view element) {
    const std::size_t semicolon = element.find(';');
    const std::string_view coding = Trim(element.substr(0, semicolon));
    if (!EqualsIgnoringCase(coding, "gzip") && !EqualsIgnoringCase(coding, "x-gzip")) return;
    accepted = semicolon == std::string_view::npos || !IsZeroWeight(element.substr(semicolon + 1));
  });
  return accepted;
}

}  // namespace trainyard::http
