#include "cli/jobs/job_commands.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/wire/utf8.h"
#include "cli/gcloud/flag_values.h"
#include "cli/gcloud/list_filter.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/jobs/job_request.h"
#include "cli/jobs/job_summary.h"
#include "cli/jobs/trial_table.h"
#include "cli/terminal_input.h"

namespace trainyard::cli {
namespace {

Result<Json> GetJob(const CommandSession& session, const JobReference& job) {
  return CallJson(session.client, {.path = job.Path()});
}

/// Empty if the server has no figures.
std::string UsageSummary(const CommandSession& session, const JobReference& job) {
  const Result<Json> answer = CallJson(session.client, {.path = "/trainyard" + job.Path() + "/metrics"});
  return answer ? PrintUsageSummary(*answer) : "";
}

Result<Json> GetStatus(const CommandSession& session, const JobReference& job) {
  return CallJson(session.client, {.path = "/trainyard" + job.Path()});
}

/// Whether any role has an image.
bool HasImage(const Json& answer) {
  for (const char* role : {"master", "worker", "parameterServer", "evaluator"})
    if (!TextAt(answer, std::string("trainingInput.") + role + "Config.imageUri").empty()) return true;
  return false;
}

/// Prints how the job was submitted, why it waits, its images and its trials. Prints nothing if the server
/// does not know.
void PrintStatus(const CommandSession& session, const JobReference& job, const Json& answer) {
  const std::string state = TextAt(answer, "state");
  // A job that runs may wait for resources again; one that is cancelled waits for its replicas.
  const bool may_wait =
      state == "QUEUED" || state == "PREPARING" || state == "RUNNING" || state == "CANCELLING";
  const bool tunes = FindMember(answer, "trainingInput.hyperparameters") != nullptr;
  // Jobs of other APIs have one.
  const bool has_display_name = !TextAt(answer, "displayName").empty();
  if (!may_wait && !tunes && !has_display_name && !HasImage(answer)) return;
  const Result<Json> status = GetStatus(session, job);
  if (!status) return;
  const std::string submitted = SubmittedAsText(*status);
  if (!submitted.empty()) {
    session.console.Status("\nSubmitted as: " + submitted + ", number " +
                           TextAt(*status, "submittedAs.number") + "\n");
  }
  for (const std::string& text : {PrintWaiting(*status), PrintRemarks(*status), PrintImages(*status)})
    if (!text.empty()) session.console.Status("\n" + text);
  if (!HasTrials(*status)) return;
  session.console.Status("\nTrials:\n");
  session.console.Table(TrialRows(*status, BestTrial(answer)), Console::Stream::kErr);
}

/// Asks on a terminal, as gcloud does; otherwise, and with --quiet, whoever runs the command means it.
Result<bool> Confirm(const CommandSession& session, const std::string& consequence) {
  if (session.arguments.IsOn("--quiet") || ::isatty(STDIN_FILENO) == 0) return true;
  session.console.Status(consequence + "\n\nDo you want to continue (Y/n)?  ");
  TY_TRY(const std::string answer, ReadInput(true));
  return answer.empty() || answer == "y" || answer == "Y" || answer == "yes";
}

Result<LabelsUpdate> ReadLabelsUpdate(const Arguments& arguments) {
  LabelsUpdate update{.clear = arguments.IsOn("--clear-labels")};
  for (const std::string& value : arguments.Values("--update-labels")) {
    TY_TRY(auto pairs, SplitPairs(value));
    for (auto& [key, text] : pairs) update.set[key] = text;
  }
  for (const std::string& value : arguments.Values("--remove-labels")) {
    TY_TRY(std::vector<std::string> keys, SplitList(value));
    update.remove.insert(update.remove.end(), keys.begin(), keys.end());
  }
  return update;
}

struct JobQuery {
  std::optional<ListFilter> filter;
  std::size_t limit = SIZE_MAX;
  std::vector<std::string> sort_by;
};

std::size_t Count(const std::optional<std::string>& flag) {
  if (!flag || *flag == "unlimited") return SIZE_MAX;
  return static_cast<std::size_t>(std::strtoull(flag->c_str(), nullptr, 10));
}

Result<JobQuery> ReadQuery(const Arguments& arguments) {
  JobQuery query{.limit = Count(arguments.Value("--limit"))};
  if (auto expression = arguments.Value("--filter")) {
    TY_TRY(query.filter, ListFilter::Parse(*expression));
  }
  if (auto fields = arguments.Value("--sort-by")) {
    TY_TRY(query.sort_by, SplitList(*fields));
  }
  return query;
}

/// Fetches pages until there are enough jobs; sorting needs all pages.
Result<std::vector<Json>> FetchJobs(const CommandSession& session, const JobQuery& query) {
  std::vector<Json> jobs;
  const ApiRequest request{.path = JobsPath(session.project.value), .query = {{"pageSize", "100"}}};
  TY_RETURN_IF_ERROR(ForEachPage(session.client, request, [&](const Json& page) {
    for (const Json& job : ListAt(page, "jobs"))
      if (!query.filter || query.filter->Matches(job)) jobs.push_back(job);
    return jobs.size() < query.limit || !query.sort_by.empty();
  }));
  SortBy(jobs, query.sort_by);
  if (jobs.size() > query.limit) jobs.resize(query.limit);
  return jobs;
}

/// Returns how each job that has a display name was submitted, by job id; empty texts: by ml v1, or the
/// server does not say.
std::map<std::string, std::string> SubmittedAs(const CommandSession& session, const std::vector<Json>& jobs) {
  std::map<std::string, std::string> submitted;
  for (const Json& job : jobs)
    if (!TextAt(job, "displayName").empty()) submitted.emplace(TextAt(job, "jobId"), "");
  if (submitted.empty()) return submitted;
  const ApiRequest request{.path = "/trainyard" + JobsPath(session.project.value),
                           .query = {{"pageSize", "100"}, {"filter", "displayName:*"}}};
  std::size_t left = submitted.size();
  std::ignore = ForEachPage(session.client, request, [&](const Json& page) {
    for (const Json& row : ListAt(page, "jobs")) {
      const auto job = submitted.find(TextAt(row, "jobId"));
      if (job == submitted.end()) continue;
      job->second = SubmittedAsText(row);
      --left;
    }
    return left > 0;
  });
  return submitted;
}

/// Anybody's text as one cell of a table, also where the table goes into a pipe.
std::string OnOneLine(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return wire::VisibleText(text);
}

void PrintJobs(const CommandSession& session, const std::vector<Json>& jobs, std::size_t page_size) {
  const std::map<std::string, std::string> submitted = SubmittedAs(session, jobs);
  for (std::size_t start = 0; start < jobs.size();) {
    if (start > 0) session.console.Out("\n");
    Rows rows{{"JOB_ID", "STATUS", "CREATED"}};
    // gcloud's table has three columns: scripts that only know jobs of ml v1 see the same.
    if (!submitted.empty()) rows.front().insert(rows.front().end(), {"DISPLAY_NAME", "SUBMITTED_AS"});
    std::size_t end = page_size < jobs.size() - start ? start + page_size : jobs.size();
    for (; start < end; ++start) {
      const std::string job_id = TextAt(jobs[start], "jobId");
      rows.push_back(
          {job_id, TextAt(jobs[start], "state"), LocalTime(TextAt(jobs[start], "createTime"), kDateFormat)});
      if (submitted.empty()) continue;
      const auto job = submitted.find(job_id);
      rows.back().push_back(OnOneLine(TextAt(jobs[start], "displayName")));
      rows.back().push_back(job == submitted.end() ? "" : job->second);
    }
    session.console.Table(rows);
  }
}

}  // namespace

ExitStatus DescribeJob(const CommandSession& session) {
  JobReference job = ParseJobReference(session, session.arguments.positionals.front());
  TY_TRY(Json answer, GetJob(session, job));
  if (session.arguments.IsOn("--summarize")) {
    if (session.arguments.Has("--format"))
      session.console.Warn("--format is ignored when --summarize is present");
    session.console.Out(PrintJobSummary(answer) + UsageSummary(session, job));
  } else {
    session.console.Out(PrintResource(answer, session.format));
  }
  if (session.arguments.Has("--format")) return 0;
  PrintStatus(session, job, answer);
  session.console.Status("\nView job at:\n" + PageOf(session, job) + "\n\nView logs with the command:\n" +
                         session.CommandLine("jobs stream-logs " + job.job_id) + "\n");
  return 0;
}

ExitStatus ListTrials(const CommandSession& session) {
  JobReference job = ParseJobReference(session, session.arguments.positionals.front());
  TY_TRY(Json answer, GetJob(session, job));
  if (FindMember(answer, "trainingInput.hyperparameters") == nullptr) {
    return std::unexpected(FailedPrecondition("The job " + job.job_id +
                                              " is not a hyperparameter tuning job, so it has no trials."));
  }
  TY_TRY(Json status, GetStatus(session, job));
  const std::string format = session.arguments.Value("--format").value_or("table");
  if (format == "csv") {
    session.console.Out(PrintTrialCsv(status));
  } else if (format == "table") {
    session.console.Table(TrialRows(status, BestTrial(answer)));
  } else {
    session.console.Out(PrintResources(TrialOutputs(status), session.format));
  }
  return 0;
}

ExitStatus CancelJob(const CommandSession& session) {
  JobReference job = ParseJobReference(session, session.arguments.positionals.front());
  TY_RETURN_IF_ERROR(PostJson(session.client, job.Path() + ":cancel", JsonObject()));
  return 0;
}

ExitStatus DeleteJob(const CommandSession& session) {
  const JobReference job = ParseJobReference(session, session.arguments.positionals.front());
  TY_TRY(const bool is_meant,
         Confirm(session, "The job [" + job.job_id +
                              "] will be deleted with its log, metrics and trials. Its files in buckets will "
                              "not be deleted."));
  if (!is_meant) return std::unexpected(FailedPrecondition("Aborted by user."));
  TY_RETURN_IF_ERROR(
      CallJson(session.client, {.method = ApiRequest::Method::kDelete, .path = "/trainyard" + job.Path()}));
  session.console.Status("Deleted the job [" + job.job_id + "]. Its files in buckets were not deleted.\n");
  return 0;
}

ExitStatus UpdateJob(const CommandSession& session) {
  const Arguments& arguments = session.arguments;
  std::string updated = "Updated ml engine job [" + arguments.positionals.front() + "].\n";
  JobReference job = ParseJobReference(session, arguments.positionals.front());
  TY_TRY(LabelsUpdate update, ReadLabelsUpdate(arguments));
  if (!update.clear && update.set.empty() && update.remove.empty())
    return std::unexpected(InvalidArgument("", "No updates requested."));
  TY_TRY(Json current, GetJob(session, job));
  Labels labels;
  for (const Json& member : ListAt(current, "labels")) labels[member.name] = member.text;
  std::optional<Labels> wanted = ApplyLabels(labels, update);
  if (!wanted) {
    session.console.Status("No update to perform.\n" + updated);
    return 0;
  }
  Json body = JsonObject({{"labels", JsonObject()}});
  Json& list = body.children.front();
  for (const auto& [key, value] : *wanted) {
    list.children.push_back(JsonString(value));
    list.children.back().name = key;
  }
  TY_TRY(Json answer, CallJson(session.client, {.method = ApiRequest::Method::kPatch,
                                                .path = job.Path(),
                                                .query = {{"updateMask", "labels"}},
                                                .body = PrintCompact(body)}));
  session.console.Status(updated);
  if (session.format.kind != OutputFormat::Kind::kDefault)
    session.console.Out(PrintResource(answer, session.format));
  return 0;
}

ExitStatus MaintainJob(const CommandSession& session) {
  const std::vector<std::string>& words = session.arguments.positionals;
  const JobReference job = ParseJobReference(session, words.front());
  const std::string& replica = words.back();
  TY_RETURN_IF_ERROR(PostJson(session.client, "/trainyard" + job.Path() + ":maintain",
                              JsonObject({{"replica", JsonString(replica)}})));
  session.console.Status("The replica [" + replica + "] of job [" + job.job_id + "] is being restarted.\n");
  return 0;
}

ExitStatus ShowPreparation(const CommandSession& session) {
  const JobReference job = ParseJobReference(session, session.arguments.positionals.front());
  TY_TRY(const ApiResponse response,
         session.client.Send({.path = "/trainyard" + job.Path() + "/preparation"}));
  if (response.status >= 400)
    return std::unexpected(Error{.code = Code::kUnknown, .message = ErrorText(response)});
  session.console.Out(wire::VisibleText(response.body));
  return 0;
}

ExitStatus ListJobs(const CommandSession& session) {
  TY_TRY(JobQuery query, ReadQuery(session.arguments));
  TY_TRY(std::vector<Json> jobs, FetchJobs(session, query));
  if (session.arguments.IsOn("--uri")) {
    for (const Json& job : jobs) {
      const JobReference reference{session.project.value, TextAt(job, "jobId")};
      session.console.Out(UrlOf(session, reference.Path()) + "\n");
    }
  } else if (session.format.kind == OutputFormat::Kind::kDefault) {
    PrintJobs(session, jobs, Count(session.arguments.Value("--page-size")));
  } else {
    session.console.Out(PrintResources(jobs, session.format));
  }
  bool silent = session.format.kind == OutputFormat::Kind::kJson;
  if (jobs.empty() && !silent) session.console.Status("Listed 0 items.\n");
  return 0;
}

}  // namespace trainyard::cli
