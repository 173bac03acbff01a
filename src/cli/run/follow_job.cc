#include "cli/run/follow_job.h"

#include <chrono>
#include <utility>

#include "cli/jobs/stream_logs.h"

namespace trainyard::cli {
namespace {

constexpr int kSameNamesMax = 9;

std::string GoOn(const CommandSession& session, const std::string& job_id) {
  return "The job continues. Follow its log:  " + session.CommandLine("jobs stream-logs " + job_id) +
         "\nCancel it:                          " + session.CommandLine("jobs cancel " + job_id) + "\n";
}

/// The server went away while it was asked, and may have created the job: it is asked for it, and only if it
/// has none, once more to create it.
Result<Json> CreateAgain(const CommandSession& session, const std::string& id,
                         const std::function<Json(const std::string& job_id)>& make, Result<Json> lost) {
  ApiRequest look{.method = ApiRequest::Method::kGet,
                  .path = JobReference{session.project.value, id}.Path(),
                  .patient = true};
  Result<Json> found = CallJson(session.client, std::move(look));
  if (found) return found;
  if (found.error().code != Code::kNotFound) return lost;
  return PostJson(session.client, JobsPath(session.project.value), make(id));
}

}  // namespace

Result<Json> CreateNamedJob(const CommandSession& session, const std::string& job_id, bool exact,
                            const std::function<Json(const std::string& job_id)>& make) {
  // A server that is not there at all is no server that went away while it was asked.
  const ApiRequest look{.method = ApiRequest::Method::kGet,
                        .path = JobReference{session.project.value, job_id}.Path()};
  const Result<Json> there = CallJson(session.client, look);
  if (!there && there.error().code == Code::kUnavailable) return there;
  for (int tries = 1;; ++tries) {
    const std::string id = tries == 1 ? job_id : job_id + "_" + std::to_string(tries);
    Result<Json> created = PostJson(session.client, JobsPath(session.project.value), make(id));
    if (!created && created.error().code == Code::kUnavailable && !exact)
      created = CreateAgain(session, id, make, std::move(created));
    if (created || exact || created.error().code != Code::kAlreadyExists || tries == kSameNamesMax)
      return created;
  }
}

int SayEnd(const CommandSession& session, const Json& job) {
  const std::string state = TextAt(job, "state");
  const std::string job_id = TextAt(job, "jobId");
  const std::string reason = TextAt(job, "errorMessage");
  if (state == "SUCCEEDED") {  // it may say that lines of the log are lost
    session.console.Status("Job [" + job_id + "] succeeded." + (reason.empty() ? "" : " " + reason) + "\n");
    return 0;
  }
  session.console.Status("Job [" + job_id + "] " + (state == "CANCELLED" ? "was cancelled" : "failed") +
                         (reason.empty() ? "." : ": " + reason) + "\n");
  return kJobFailedStatus;
}

ExitStatus FollowJobToItsEnd(const CommandSession& session, const std::string& job_id) {
  StreamOptions options;
  options.query = {session.project.value, job_id, std::nullopt};
  options.polling_interval = PollingInterval(session);
  options.print = [&session](const std::string& lines) {
    session.console.LogLines(lines, Console::Stream::kOut);
  };
  Result<StreamEnd> end = StreamLog(session, options);
  if (!end) {
    end.error().message += "\n" + GoOn(session, job_id);
    while (end.error().message.ends_with('\n')) end.error().message.pop_back();
    return std::unexpected(std::move(end).error());
  }
  if (*end == StreamEnd::kInterrupted) {
    session.console.Status("\n" + GoOn(session, job_id));
    return kInterruptedStatus;
  }
  TY_TRY(const Json job, CallJson(session.client, {.path = JobReference{session.project.value, job_id}.Path(),
                                                   .patient = true}));
  return SayEnd(session, job);
}

ExitStatus FollowUnlessAsync(const CommandSession& session, const std::string& job_id) {
  if (!session.arguments.IsOn("--async")) return FollowJobToItsEnd(session, job_id);
  session.console.Status("Follow it:  " + session.CommandLine("jobs stream-logs " + job_id) + "\n");
  return 0;
}

std::tm LocalNow() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

}  // namespace trainyard::cli
