#pragma once

#include <optional>

#include "cli/command_session.h"
#include "cli/interrupt.h"
#include "cli/jobs/log_stream.h"
#include "cli/jobs/stream_logs.h"

namespace trainyard::cli {

/// Follows the log through entries:tail, from the position on, until the job has ended and its log is printed
/// to the end. Lines are shown as they are stored; whether the job has ended is asked soon after a line and
/// then more and more rarely (the last line of a job comes right before its end). A lost connection is opened
/// again, for half a minute, and goes on at the position.
/// @return nothing: the server does not offer it; the position is where to go on otherwise. Errors: the
/// server's refusals, that it cannot be reached, and that the job does not exist.
[[nodiscard]] Result<std::optional<StreamEnd>> TailLog(const CommandSession& session,
                                                       const StreamOptions& options,
                                                       const InterruptWatch& interrupt,
                                                       LogPosition& position);

}  // namespace trainyard::cli
