#include "api/logging/log_rights.h"

#include <string>
#include <utility>

#include "net/access/caller.h"
#include "rules/iam/resource.h"

namespace trainyard::api {

boost::asio::awaitable<Status> RequireLogs(const http::Request& request, logs::LogQuery query) {
  if (request.caller == nullptr) co_return Status();
  for (const std::string& project : query.projects) {
    iam::Resource all = iam::Resource::Project(project);
    const Status may_read_all = co_await access::Require(request, "logging.logEntries.list", std::move(all));
    if (may_read_all) continue;
    if (!query.bounds.job_id) co_return may_read_all;
    iam::Resource job = iam::Resource::Job(project, *query.bounds.job_id);
    const Status may_see_job = co_await access::Require(request, "ml.jobs.get", std::move(job));
    if (!may_see_job) co_return may_read_all;
  }
  co_return Status();
}

boost::asio::awaitable<Status> RequireAuditLogs(const http::Request& request, logs::LogQuery query) {
  for (const std::string& project : query.projects) {
    iam::Resource resource = iam::Resource::Project(project);
    TY_CO_RETURN_IF_ERROR(
        co_await access::Require(request, "logging.privateLogEntries.list", std::move(resource)));
  }
  co_return Status();
}

}  // namespace trainyard::api
