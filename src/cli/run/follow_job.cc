#include "cli/run/follow_job.h"

#include <chrono>
#include <utility>

#include "base/wire/resource_name.h"
#include "cli/jobs/job_warnings.h"
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

/// Says where the files of the job's working directory are, if any were kept.
void SayKeptFiles(const CommandSession& session, const Json& job) {
  const Json* as_variable = FindMember(job, "trainingInput.jobDirAsVariable");
  if (as_variable == nullptr) return;
  auto folder = wire::ObjectUri::Parse(TextAt(job, "trainingInput.jobDir") + "/workdir/");
  if (!folder) return;
  const Result<Json> found =
      CallJson(session.client, {.method = ApiRequest::Method::kGet,
                                .path = "/storage/v1/b/" + folder->bucket + "/o",
                                .query = {{"prefix", folder->object}, {"maxResults", "1"}},
                                .patient = true});
  if (!found || FindMember(*found, "items") == nullptr) return;
  session.console.Status("Files of its working directory: " + folder->ToString() + "\nDownload them:  " +
                         session.CommandLine("jobs download " + TextAt(job, "jobId")) + "\n");
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

std::string WithoutTracebacks(std::string message) {
  constexpr std::string_view kBegin = "\nTraceback (most recent call last):\n";
  constexpr std::string_view kEnd = "\n\nDiagnosis: ";
  for (std::size_t begin = message.find(kBegin); begin != std::string::npos;
       begin = message.find(kBegin, begin)) {
    const std::size_t end = message.find(kEnd, begin);
    if (end == std::string::npos) break;
    message.erase(begin, end - begin);
  }
  return message;
}

int SayEnd(const CommandSession& session, const Json& job, Shown shown) {
  const std::string state = TextAt(job, "state");
  const std::string job_id = TextAt(job, "jobId");
  std::string reason = TextAt(job, "errorMessage");
  if (shown == Shown::kLog) reason = WithoutTracebacks(std::move(reason));
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
  const int status = SayEnd(session, job, Shown::kLog);
  SayKeptFiles(session, job);
  return status;
}

ExitStatus FollowUnlessAsync(const CommandSession& session, const std::string& job_id) {
  if (!session.arguments.IsOn("--async")) return FollowJobToItsEnd(session, job_id);
  PrintJobWarnings(session.client, session.console, {session.project.value, job_id});
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
