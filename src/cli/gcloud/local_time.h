#pragma once

#include <string>
#include <string_view>

namespace trainyard::cli {

/// An RFC 3339 time in this machine's zone by a strftime format; what is no time is returned as it is.
[[nodiscard]] std::string LocalTime(std::string_view rfc3339, const char* format);

inline constexpr const char* kDateFormat = "%Y-%m-%dT%H:%M:%S";        ///< of tables and of submit's answer
inline constexpr const char* kLogTimeFormat = "%Y-%m-%d %H:%M:%S %z";  ///< of log lines

}  // namespace trainyard::cli
