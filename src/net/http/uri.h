#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

/// The parts of a request target. Pure text; any thread. Source: RFC 3986 section 2, the query as HTML forms
/// write it.
namespace trainyard::http {

/// Like text::PercentDecode, with kInvalidArgument for malformed text.
[[nodiscard]] Result<std::string> PercentDecode(std::string_view text);

/// "a=1&b=%20&c" in order; '+' is a space, a name without '=' has an empty value.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query);

/// A target split at its first '?': the raw path and the raw query.
struct Target {
  std::string_view path;
  std::string_view query;
  std::string_view authority{};  ///< set for the absolute form, http://AUTHORITY/path; else empty
};
[[nodiscard]] Target SplitTarget(std::string_view target) noexcept;

}  // namespace trainyard::http
