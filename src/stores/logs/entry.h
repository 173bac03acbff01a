#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stores/logs/log_store.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Log entries as the API shows them. Pure: any thread.
namespace trainyard::logs {

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
