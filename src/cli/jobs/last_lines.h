#pragma once

#include <string>

#include "cli/jobs/log_stream.h"
#include "cli/session.h"

namespace trainyard::cli {

/// Prints the last `count` entries of the job's log (or of one replica's), oldest first, and does not wait
/// for more: `jobs stream-logs JOB --task-name TASK --last 50`. Errors: the server's refusals.
[[nodiscard]] ExitStatus PrintLastLines(const Session& session, const LogQuery& query, int count,
                                        bool multiline);

}  // namespace trainyard::cli
