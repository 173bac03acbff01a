#pragma once

#include <optional>
#include <string_view>

#include "trainyard/logging/v2/logging.pb.h"

/// A view of a serialized LogLine, without a copy. Pure: any thread.
namespace trainyard::logs {

struct LineView {
  logging::v2::LogEntry::Severity severity = logging::v2::LogEntry::DEFAULT;
  std::string_view text;    ///< within the line's bytes
  bool has_fields = false;  ///< it is a structured entry with further fields
  bool severity_of_stream = false;
};

/// Nothing: it is malformed, or has fields that protobuf would not write here; parse it as a message.
[[nodiscard]] std::optional<LineView> ViewLine(std::string_view bytes);

}  // namespace trainyard::logs
