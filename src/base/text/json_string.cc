#include "base/text/json_string.h"

#include "base/text/hex.h"

namespace trainyard::text {

std::string QuoteJson(std::string_view text, JsonControls controls) {
  return "\"" + EscapeJson(text, controls) + "\"";
}

std::string EscapeJson(std::string_view text, JsonControls controls) {
  constexpr std::string_view kShort = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      escaped += {'\\', c};
    } else if (byte >= 0x20) {
      escaped += c;
    } else if (const std::size_t at = kShort.find(c);
               at != std::string_view::npos && controls == JsonControls::kShort) {
      escaped += {'\\', kLetters[at]};
    } else {
      escaped += JsonCode(byte);
    }
  }
  return escaped;
}

std::string JsonCode(char16_t unit) { return "\\u" + HexNumber(unit, 4); }

}  // namespace trainyard::text
