#pragma once

#include <string>
#include <string_view>

/// JSON strings. Pure: any thread. Source: RFC 8259 section 7.
namespace trainyard::text {

/// The form of control characters that JSON can write in two ways.
enum class JsonControls {
  kShort,  ///< \n \t \r \b \f: what JSON libraries print, and gcloud
  kCode,   ///< \u000a: in TF_CONFIG
};

/// The text as a JSON string, quotes included. Bytes above ASCII are not changed (UTF-8).
[[nodiscard]] std::string QuoteJson(std::string_view text, JsonControls controls = JsonControls::kShort);

/// The text as in QuoteJson, without the quotes.
[[nodiscard]] std::string EscapeJson(std::string_view text, JsonControls controls = JsonControls::kShort);

/// The escape of one UTF-16 code unit: backslash, 'u', four digits.
[[nodiscard]] std::string JsonCode(char16_t unit);

}  // namespace trainyard::text
