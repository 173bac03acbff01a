#include "http/uri.h"

#include <algorithm>

namespace trainyard::http {

namespace {

int HexValue(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsUnreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

Result<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded.push_back(' ');
    } else if (text[i] != '%') {
      decoded.push_back(text[i]);
    } else {
      const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0 || (high == 0 && low == 0)) {
        return std::unexpected(InvalidArgument("", "malformed percent-encoding in the request's URL"));
      }
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return decoded;
}

}  // namespace

Result<std::string> PercentDecode(std::string_view text) { return Decode(text, false); }

std::string PercentEncode(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(kDigits[byte >> 4]);
      encoded.push_back(kDigits[byte & 15]);
    }
  }
  return encoded;
}

Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(item.size() + 1, query.size()));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    TY_TRY(std::string name, Decode(item.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      TY_TRY(value, Decode(item.substr(equals + 1), true));
    }
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return pairs;
}

Target SplitTarget(std::string_view target) noexcept {
  if (const std::size_t scheme_end = target.find("://");
      scheme_end != std::string_view::npos && !target.starts_with('/')) {
    const std::size_t path = target.find_first_of("/?", scheme_end + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return {.path = target, .query = {}};
  return {.path = target.substr(0, question), .query = target.substr(question + 1)};
}

}  // namespace trainyard::http
