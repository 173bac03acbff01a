#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stores/logs/chunk_walk.h"
#include "trainyard/control/v1/log_window.pb.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Serialized LogLines: a view of one without a copy, and its form in control/v1/log_window.proto. Pure: any
/// thread.
namespace trainyard::logs {

struct LineView {
  logging::v2::LogEntry::Severity severity = logging::v2::LogEntry::DEFAULT;
  std::string_view text;    ///< within the line's bytes
  bool has_fields = false;  ///< it is a structured entry with further fields
  bool severity_of_stream = false;
};

/// Nothing: it is malformed, or has fields that protobuf would not write here; parse it as a message.
[[nodiscard]] std::optional<LineView> ViewLine(std::string_view bytes);

/// Parses a serialized LogLine; one that cannot be read becomes a line that says so.
[[nodiscard]] replica::v1::LogLine ParseLine(std::string_view bytes);

/// @param whole  false: a text longer than kShownTextMax is cut at the end of a character, and further fields
/// with more bytes than that are left out.
[[nodiscard]] control::v1::LogLineShown ShowLine(const WalkedChunk& chunk, const NumberedLine& line,
                                                 bool whole);

}  // namespace trainyard::logs
