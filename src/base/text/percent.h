#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Percent-encoding. Pure: any thread. Source: RFC 3986 sections 2.1 and 2.3.
namespace trainyard::text {

/// Every byte that is neither unreserved (letters, digits, "-._~") nor in `kept` becomes %XX. As it is: right
/// for one path segment or one query value. With "/" kept: for a path.
[[nodiscard]] std::string PercentEncode(std::string_view text, std::string_view kept = {});

/// Absent: a '%' without two hexadecimal digits, or an encoded NUL, which no name of ours has. '+' stays '+'.
[[nodiscard]] std::optional<std::string> PercentDecode(std::string_view text);

}  // namespace trainyard::text
