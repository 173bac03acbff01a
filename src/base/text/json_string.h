#pragma once

#include <string>
#include <string_view>

/// JSON strings. Pure: any thread. Source: RFC 8259 section 7.
namespace trainyard::text {

/// How the control characters look that have two spellings.
enum class JsonControls {
  kShort,  ///< \n \t \r \b \f: what JSON libraries print, and gcloud
  kCode,   ///< \u000a: in TF_CONFIG
};

/// The text as a JSON string, quotes included. Bytes above ASCII stay as they are (UTF-8).
[[nodiscard]] std::string QuoteJson(std::string_view text, JsonControls controls = JsonControls::kShort);

/// What stands between the quotes.
[[nodiscard]] std::string EscapeJson(std::string_view text, JsonControls controls = JsonControls::kShort);

/// The escape of one UTF-16 code unit: backslash, 'u', four digits.
[[nodiscard]] std::string JsonCode(char16_t unit);

}  // namespace trainyard::text
