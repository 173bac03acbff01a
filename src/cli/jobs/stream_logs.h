#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "cli/command_session.h"
#include "cli/jobs/log_stream.h"

namespace trainyard::cli {

/// How a stream ended.
enum class StreamEnd { kJobEnded, kInterrupted };

struct StreamOptions {
  JobLogQuery query;
  std::chrono::milliseconds polling_interval{500};
  bool multiline = false;
  std::function<void(const std::string& lines)> print;  ///< complete lines
};

/// Prints the job's log until the job has ended and its log is read to the end, or until Ctrl-C. Follows it
/// through entries:tail; where the server does not offer that, it looks again and again as gcloud does:
/// between two looks it waits; a look that brought nothing is followed by one whether the job has ended. The
/// server hands out growing timestamps (gcloud keeps 5 s away from now, and waits for two empty looks,
/// because the original did not): nothing is held back. Errors: the server's refusals; the job does not
/// exist.
[[nodiscard]] Result<StreamEnd> StreamLog(const CommandSession& session, const StreamOptions& options);

inline constexpr std::chrono::milliseconds kPollingIntervalDefault{500};

/// --polling-interval, gcloud's ml_engine/polling_interval, kPollingIntervalDefault.
[[nodiscard]] std::chrono::milliseconds PollingInterval(const CommandSession& session);

/// The command `jobs stream-logs`. Ctrl-C ends it as the signal does.
[[nodiscard]] ExitStatus StreamJobLogs(const CommandSession& session);

}  // namespace trainyard::cli
