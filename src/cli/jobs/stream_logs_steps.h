#pragma once

#include <optional>

#include "base/clock.h"
#include "cli/command_session.h"
#include "cli/jobs/log_stream.h"
#include "cli/jobs/stream_logs.h"

/// What both ways of streaming a log, asking and following, consist of.
namespace trainyard::cli {

/// Prints those of the entries (a JSON array) that are behind the position; whether there were any.
bool PrintEntries(const Json& entries, const StreamOptions& options, LogPosition& position);

enum class Batch { kNothing, kSome, kFull };

/// Reads and prints what came since, page by page, up to a batch. `until` absent: all there is.
[[nodiscard]] Result<Batch> ReadOnce(const CommandSession& session, const StreamOptions& options,
                                     LogPosition& position, std::optional<SysTime> until);

/// Whether the job's endTime is set: its log is complete then. `patient`: see ApiRequest.
[[nodiscard]] Result<bool> HasEnded(const CommandSession& session, const StreamOptions& options,
                                    bool patient);

/// Prints what the log got while the end was being noticed.
[[nodiscard]] Status ReadRest(const CommandSession& session, const StreamOptions& options,
                              LogPosition& position);

}  // namespace trainyard::cli
