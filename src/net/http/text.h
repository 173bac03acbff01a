#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/ascii.h"

/// The small grammar that HTTP's header fields share. Pure; any thread. Source: RFC 9110 section 5.6.
namespace trainyard::http {

using trainyard::EqualsIgnoringCase;

/// Letters, digits and !#$%&'*+-.^_`|~, at least one.
[[nodiscard]] bool IsToken(std::string_view text) noexcept;

/// No control characters but tab; bytes above 0x7f pass.
[[nodiscard]] bool IsFieldValue(std::string_view text) noexcept;

/// Without the spaces and tabs around it.
[[nodiscard]] std::string_view Trim(std::string_view text) noexcept;

/// Calls `visit` with each trimmed, non-empty element of a comma-separated list.
void ForEachElement(std::string_view list, const std::function<void(std::string_view)>& visit);

/// Digits only, no sign, no space; nothing when it does not fit.
[[nodiscard]] std::optional<std::uint64_t> ParseDecimal(std::string_view text) noexcept;

/// Whether an Accept-Encoding field allows gzip (q=0 forbids it). Source: RFC 9110 section 12.5.3.
[[nodiscard]] bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace trainyard::http
