#pragma once

#include <optional>

#include "base/clock.h"
#include "cli/command_session.h"
#include "cli/jobs/log_stream.h"
#include "cli/jobs/stream_logs.h"

/// The steps that polling and following a log share.
namespace trainyard::cli {

/// Prints the entries (a JSON array) after the position. Returns whether there were any.
bool PrintEntries(const Json& entries, const StreamOptions& options, LogPosition& position);

enum class Batch { kNothing, kSome, kFull };

/// Reads and prints new entries, page by page, up to a batch. Without `until`, all of them.
[[nodiscard]] Result<Batch> ReadOnce(const CommandSession& session, const StreamOptions& options,
                                     LogPosition& position, std::optional<SysTime> until);

/// Whether the job's endTime is set; its log is then complete. `patient`: see ApiRequest.
[[nodiscard]] Result<bool> HasEnded(const CommandSession& session, const StreamOptions& options,
                                    bool patient);

/// Prints the entries that arrived while the end was being detected.
[[nodiscard]] Status ReadRest(const CommandSession& session, const StreamOptions& options,
                              LogPosition& position);

}  // namespace trainyard::cli
