#pragma once

#include <optional>
#include <string_view>

#include "trainyard/logging/v2/logging.pb.h"

namespace trainyard::replica {

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
