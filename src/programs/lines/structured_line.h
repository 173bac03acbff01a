#pragma once

#include <optional>
#include <string_view>

#include "trainyard/logging/v2/logging.pb.h"
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

/// A line that TensorFlow's or gRPC's C++ code has written, taken apart. Views into the line.
struct CppLogLine {
  logging::v2::LogEntry::Severity severity;
  std::string_view file;
  int line = 0;
  std::string_view time;    ///< as printed; empty if there is none
  std::string_view thread;  ///< gRPC's and absl's; empty otherwise
  std::string_view text;
};

/// `I tensorflow/core/a.cc:12] text` with or without "2026-11-21 07:35:47.123456: " before it, and the glog
/// form of gRPC and absl, `E1121 07:35:47.123456789    1234 a.cc:12] text`. D, I, W, E, F are DEBUG, INFO,
/// WARNING, ERROR, CRITICAL. Nothing for any other line. Pure: any thread. Source: spec lifecycle.md
/// section 7.
[[nodiscard]] std::optional<CppLogLine> ParseCppLogLine(std::string_view line) noexcept;

}  // namespace trainyard::replica
