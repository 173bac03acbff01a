#pragma once

#include <ctime>
#include <functional>
#include <string>

#include "cli/command_session.h"

namespace trainyard::cli {

/// Exit statuses of commands that wait for a job.
inline constexpr int kJobFailedStatus = 1;
inline constexpr int kInterruptedStatus = 130;

/// Creates the job that `make` gives for an id, and again with "_2", "_3", ... behind it while there is one
/// of this name; with `exact` only once. Returns the created job. Errors: the server's refusals.
[[nodiscard]] Result<Json> CreateNamedJob(const CommandSession& session, const std::string& job_id,
                                          bool exact,
                                          const std::function<Json(const std::string& job_id)>& make);

/// Prints the job's log until it ends, then how it ended. 0 only for SUCCEEDED, kJobFailedStatus for all
/// other ends, kInterruptedStatus after Ctrl-C, which leaves the job alone and says how to go on.
[[nodiscard]] ExitStatus FollowJobToItsEnd(const CommandSession& session, const std::string& job_id);

/// The same, but with --async it says how to follow the job, and that is all.
[[nodiscard]] ExitStatus FollowUnlessAsync(const CommandSession& session, const std::string& job_id);

/// For the names of jobs.
[[nodiscard]] std::tm LocalNow();

/// Says how a job ended: "Job [x] succeeded.", or failed, with its reason. Returns the exit status.
enum class Shown { kNothing, kLog };  ///< what the user has seen of the job: its log has the tracebacks
[[nodiscard]] int SayEnd(const CommandSession& session, const Json& job, Shown shown = Shown::kNothing);

/// An errorMessage without the tracebacks before its diagnoses. Pure.
[[nodiscard]] std::string WithoutTracebacks(std::string message);

}  // namespace trainyard::cli
