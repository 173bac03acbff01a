#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Base64. Pure: any thread. Source: RFC 4648 sections 4 and 5.
namespace trainyard::text {

enum class Base64Form {
  kStandard,  ///< '+' and '/', padded with '='
  kUrl,       ///< '-' and '_', padded
  kUrlBare,   ///< '-' and '_', without padding: parts of a JWT, page tokens
};

[[nodiscard]] std::string Base64(std::string_view bytes, Base64Form form = Base64Form::kStandard);

/// The bytes, if the text has the form's alphabet and exactly its padding. Unused bits of the last character
/// are ignored.
[[nodiscard]] std::optional<std::string> FromBase64(std::string_view text,
                                                    Base64Form form = Base64Form::kStandard);

}  // namespace trainyard::text
