#pragma once

#include <optional>

#include "cli/command_session.h"
#include "cli/interrupt.h"
#include "cli/jobs/log_stream.h"
#include "cli/jobs/stream_logs.h"

namespace trainyard::cli {

/// Follows the log through entries:tail, from the position on, until the job has ended and its log is printed
/// to the end. Prints lines as soon as they are stored. It checks whether the job has ended soon after a line
/// and then less and less often (the last line of a job comes right before its end). A lost connection is
/// opened again, for up to half a minute, and continues at the position.
/// @return nothing if the server has no entries:tail; the caller then continues at the position. Errors: the
/// server's refusals, that it cannot be reached, and that the job does not exist.
[[nodiscard]] Result<std::optional<StreamEnd>> TailLog(const CommandSession& session,
                                                       const StreamOptions& options,
                                                       const InterruptWatch& interrupt,
                                                       LogPosition& position);

}  // namespace trainyard::cli
