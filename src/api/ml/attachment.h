#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "net/http/headers.h"

/// Answers that a browser saves as files. Pure: any thread.
namespace trainyard::api {

/// A file name made from any text: letters, digits, '.', '-' and '_' stay, all other characters become '_'.
/// Never empty, never begins with a dot, at most kFileNameBytesMax long.
[[nodiscard]] std::string SafeFileName(std::string_view text);
inline constexpr std::size_t kFileNameBytesMax = 200;

/// Sets Content-Type, Content-Disposition with SafeFileName(name), and headers that make contents harmless
/// that may come from anybody (http::ConfineContent). Source: RFC 6266.
void SetAttachment(std::string_view content_type, std::string_view name, http::Headers& headers);

}  // namespace trainyard::api
