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
  std::function<void(const std::string& lines)> print;  ///< complete lines, as Console::LogLines takes them
};

/// Prints the job's log until the job has ended and its log is read to the end, or until Ctrl-C. Follows it
/// through entries:tail. If the server does not offer that, it polls as gcloud does: it waits between two
/// requests, and after a request without new entries it checks whether the job has ended. gcloud stays 5 s
/// behind the current time and waits for two empty answers, because the original's timestamps could decrease.
/// This server's only grow, so lines are printed without delay. Errors: the server's refusals; the job does
/// not exist.
[[nodiscard]] Result<StreamEnd> StreamLog(const CommandSession& session, const StreamOptions& options);

inline constexpr std::chrono::milliseconds kPollingIntervalDefault{500};

/// --polling-interval, gcloud's ml_engine/polling_interval, kPollingIntervalDefault.
[[nodiscard]] std::chrono::milliseconds PollingInterval(const CommandSession& session);

/// The command `jobs stream-logs`. Ctrl-C ends the process by the signal.
[[nodiscard]] ExitStatus StreamJobLogs(const CommandSession& session);

}  // namespace trainyard::cli
