#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/logs/chunk_walk.h"
#include "stores/logs/log_store.h"
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
  bool redraw = false;
  bool continued = false;
  bool cut = false;
};

/// Nothing: it is malformed, or has fields that protobuf would not write here; parse it as a message.
[[nodiscard]] std::optional<LineView> ViewLine(std::string_view bytes);

/// Parses a serialized LogLine; one that cannot be read becomes a line that says so.
[[nodiscard]] replica::v1::LogLine ParseLine(std::string_view bytes);

/// @param whole  false: a text longer than kShownTextMax is cut at the end of a character, and further fields
/// with more bytes than that are left out.
[[nodiscard]] control::v1::LogLineShown ShowLine(const WalkedChunk& chunk, const NumberedLine& line,
                                                 bool whole);

// Log entries as the API shows them. Pure: any thread.

/// What all lines of a source have in common: log name, resource, labels. Source: docs/spec "Log entries".
[[nodiscard]] logging::v2::LogEntry EntryTemplate(const LogSource& source);

/// Insert ids sort as text in the order of the numbers. `job_line` counts from 0 over all sources of the
/// job.
[[nodiscard]] std::string InsertId(std::int64_t job_line);

/// Copies one line into a copy of the template: jsonPayload (message, levelname, created, further fields),
/// severity, timestamp and insertId. Never textPayload.
/// @param shown_time  Unix time in ns
void FillEntry(const replica::v1::LogLine& line, std::int64_t shown_time, std::int64_t job_line,
               logging::v2::LogEntry& entry);

/// Converts a serialized LogLine to an entry, `common` being the template of its source. A line that cannot
/// be read becomes an entry that says so.
[[nodiscard]] logging::v2::LogEntry MakeEntry(const logging::v2::LogEntry& common, std::string_view bytes,
                                              std::int64_t shown_time, std::int64_t job_line);

}  // namespace trainyard::logs
