#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Percent-encoding. Pure: any thread. Source: RFC 3986 sections 2.1 and 2.3.
namespace trainyard::text {

/// Replaces every byte that is neither unreserved (letters, digits, "-._~") nor in `kept` by %XX. Use an
/// empty `kept` for one path segment or one query value, and "/" for a path.
[[nodiscard]] std::string PercentEncode(std::string_view text, std::string_view kept = {});

/// Nullopt for a '%' without two hexadecimal digits, or for an encoded NUL, which no name of ours contains.
/// '+' is not changed.
[[nodiscard]] std::optional<std::string> PercentDecode(std::string_view text);

}  // namespace trainyard::text
