#pragma once

#include <optional>
#include <string_view>

#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Reads one line that is a JSON object into severity, text and further fields of `line`; returns false, and
/// leaves `line` unchanged, for any other line. "severity" (a name in upper or lower case, or a number of the
/// API) or else "levelname" sets the severity, DEFAULT if there is neither; "message" becomes the text. Both
/// are removed; everything else stays as fields. A line nested deeper than 32 is treated as text. `text` must
/// be UTF-8. Pure: any thread. Source: spec lifecycle.md section 7.
[[nodiscard]] bool ParseStructuredLine(std::string_view text, v1::LogLine& line);

/// The severity for a level's name in Python's logging or Cloud Logging; DEFAULT for others. "WARN" and
/// "FATAL" are WARNING and CRITICAL.
[[nodiscard]] logging::v2::LogEntry::Severity SeverityOf(std::string_view level) noexcept;

/// The parts of a line that TensorFlow's or gRPC's C++ code has written. They are views into the line.
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
/// WARNING, ERROR, CRITICAL. Empty for any other line. Pure: any thread. Source: spec lifecycle.md section 7.
[[nodiscard]] std::optional<CppLogLine> ParseCppLogLine(std::string_view line) noexcept;

}  // namespace trainyard::replica
