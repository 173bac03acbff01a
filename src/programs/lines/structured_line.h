#pragma once

#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Reads one line that is a JSON object into severity, text and further fields of `line`; false, and `line`
/// untouched, for any other line. "severity" (a name in any case, or a number of the API) or else "levelname"
/// gives the severity, DEFAULT where there is neither; "message" becomes the text. Both are taken out, all
/// else stays as fields. Nesting deeper than 32 is no such line. `text` must be UTF-8. Pure: any thread.
/// Source: spec lifecycle.md section 7.
[[nodiscard]] bool ParseStructuredLine(std::string_view text, v1::LogLine& line);

/// The severity of a level's name as Python's logging or Cloud Logging spell it; DEFAULT for others. "WARN"
/// and "FATAL" are WARNING and CRITICAL.
[[nodiscard]] logging::v2::LogEntry::Severity SeverityOf(std::string_view level) noexcept;

}  // namespace trainyard::replica
