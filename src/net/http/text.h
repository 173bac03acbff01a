#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/ascii.h"

/// The small grammar that HTTP's header fields share. Pure; any thread. Source: RFC 9110 section 5.6.
namespace trainyard::http {

using trainyard::EqualsIgnoringCase;

/// Whether it has at least one character and only letters, digits and !#$%&'*+-.^_`|~.
[[nodiscard]] bool IsToken(std::string_view text) noexcept;

/// Whether there are no control characters except tab; bytes above 0x7f are allowed.
[[nodiscard]] bool IsFieldValue(std::string_view text) noexcept;

/// The text without leading and trailing spaces and tabs.
[[nodiscard]] std::string_view Trim(std::string_view text) noexcept;

/// Calls `visit` with each trimmed, non-empty element of a comma-separated list.
void ForEachElement(std::string_view list, const std::function<void(std::string_view)>& visit);

/// Parses digits without sign or space; nullopt for anything else and if it does not fit.
[[nodiscard]] std::optional<std::uint64_t> ParseDecimal(std::string_view text) noexcept;

/// Whether an Accept-Encoding field allows gzip (q=0 forbids it). Source: RFC 9110 section 12.5.3.
[[nodiscard]] bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace trainyard::http
