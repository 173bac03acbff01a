#include <cstdlib>
#include <optional>
#include <utility>

#include "cli/gcloud/flag_values.h"
#include "cli/gcloud/list_filter.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/jobs/job_commands.h"

namespace trainyard::cli {
namespace {

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

void PrintJobs(const Console& console, const std::vector<Json>& jobs, std::size_t page_size) {
  for (std::size_t start = 0; start < jobs.size();) {
    if (start > 0) console.Out("\n");
    Rows rows{{"JOB_ID", "STATUS", "CREATED"}};
    std::size_t end = page_size < jobs.size() - start ? start + page_size : jobs.size();
    for (; start < end; ++start)
      rows.push_back({TextAt(jobs[start], "jobId"), TextAt(jobs[start], "state"),
                      LocalTime(TextAt(jobs[start], "createTime"), kDateFormat)});
    console.Table(rows);
  }
}

}  // namespace

ExitStatus ListJobs(const CommandSession& session) {
  TY_TRY(JobQuery query, ReadQuery(session.arguments));
  TY_TRY(std::vector<Json> jobs, FetchJobs(session, query));
  if (session.arguments.IsOn("--uri")) {
    std::string url = session.server.value;
    while (url.ends_with('/')) url.pop_back();
    for (const Json& job : jobs)
      session.console.Out(url + JobReference{session.project.value, TextAt(job, "jobId")}.Path() + "\n");
  } else if (session.format.kind == OutputFormat::Kind::kDefault) {
    PrintJobs(session.console, jobs, Count(session.arguments.Value("--page-size")));
  } else {
    session.console.Out(PrintResources(jobs, session.format));
  }
  bool silent = session.format.kind == OutputFormat::Kind::kJson;
  if (jobs.empty() && !silent) session.console.Status("Listed 0 items.\n");
  return 0;
}

}  // namespace trainyard::cli
