#include "server/routes.h"

#include <iterator>
#include <memory>
#include <set>

#include "api/iam/identity_handlers.h"
#include "api/iam/session_handlers.h"
#include "api/logging/logging_handlers.h"
#include "api/route.h"
#include "api/storage/folder_handlers.h"
#include "cli/version.h"
#include "control/job_service.h"
#include "engine/replica_link.h"

namespace trainyard::server {

namespace {

boost::asio::awaitable<Result<std::vector<std::string>>> UnfinishedProjects(control::JobService& jobs) {
  std::set<std::string> projects;
  jobs.ForEachUnfinished([&projects](const control::v1::JobRecord& job) { projects.insert(job.project()); });
  co_return std::vector<std::string>(projects.begin(), projects.end());
}

/// The sources that administration and replicas both need.
std::vector<api::Source> SharedSources(http::Router& router, const ApiParts& parts) {
  return {api::Lend(router),
          api::Lend(parts.request_quota),
          api::Lend(parts.jobs),
          api::Lend(parts.studies),
          api::Lend(parts.buckets),
          api::Lend(parts.identities),
          api::Lend(parts.clock),
          api::Give(parts.region_offers),
          api::Give<cluster::NumberOf>(
              [&known = parts.identities](std::string_view project) { return known.ShownNumber(project); }),
          api::Give(std::make_shared<api::EntryLists>(parts.logs, parts.audit)),
          api::Give(api::TailSource{.tails = parts.tails}),
          api::Give(parts.metadata)};
}

/// Projects that exist because they have unfinished jobs.
api::MoreProjects ProjectsOfJobs(control::JobService& jobs) {
  return [&jobs]() -> boost::asio::awaitable<Result<std::vector<std::string>>> {
    return UnfinishedProjects(jobs);
  };
}

/// The project with the newest job, among those whose jobs the principal may list.
boost::asio::awaitable<std::string> NewestProject(control::JobService& jobs,
                                                  const identity::Identities& known, std::string principal) {
  const Result<std::vector<std::string>> recent = co_await jobs.RecentProjects();
  if (!recent) co_return std::string();
  for (const std::string& project : *recent) {
    if (principal.empty() || known.Grants(principal, "ml.jobs.list", iam::Resource::Project(project)))
      co_return project;
  }
  co_return std::string();
}

api::Sessions SessionsOf(const ApiParts& parts) {
  auto newest = [&jobs = parts.jobs, &known = parts.identities](std::string principal) {
    return NewestProject(jobs, known, std::move(principal));
  };
  return {.identities = parts.identities,
          .clock = parts.clock,
          .auth = parts.auth,
          .own_audiences = parts.own_urls,
          .version = std::string(cli::kVersion),
          .secret_of = parts.session_secret,
          .audit = parts.audit_logins,
          .newest_project = std::move(newest)};
}

/// Adds the sources that only the administration's routes need.
void AddOwnSources(const ApiParts& parts, std::vector<api::Source>& sources) {
  const api::TokenNames names{.own_audiences = parts.own_urls, .server = parts.server_url};
  const api::Source own[] = {
      api::Give(api::WebAccess()),
      api::Give(identity::KeyFileServer{.url = parts.server_url}),
      api::Give(names),
      api::Give(ProjectsOfJobs(parts.jobs)),
      api::Give(api::TokenEndpoint{.identities = parts.identities, .clock = parts.clock, .names = names}),
      api::Give(SessionsOf(parts)),
      api::Give(api::ShellsOf(parts.jobs, parts.clock)),
      api::Give(api::LogsOf(parts.jobs, parts.lines)),
      api::Give(std::make_shared<api::JobTablesPrinter>(parts.jobs)),
      api::Give(api::JobWatchSource{.jobs = parts.jobs}),
      api::Give(std::make_shared<api::Folders>(parts.buckets)),
      api::Give(parts.runtimes),
      api::Give(parts.machine),
      api::Give(api::UsageSource{.jobs = parts.jobs, .add_machine = parts.add_machine}),
      api::Give(MetricsOf(parts)),
      api::Lend(parts.curves),
      api::Lend(parts.administration)};
  sources.insert(sources.end(), std::begin(own), std::end(own));
}

}  // namespace

api::MetricsSources MetricsOf(const ApiParts& parts) {
  return {.jobs = parts.jobs,
          .usage = parts.usage,
          .requests = parts.request_counts,
          .connections = parts.connections,
          .loop = parts.loop,
          .limits = parts.limits};
}

void AddAdministrationRoutes(http::Router& router, const ApiParts& parts) {
  std::vector<api::Source> sources = SharedSources(router, parts);
  AddOwnSources(parts, sources);
  const api::Where where = api::Where::kAdministration;
  api::AddAllRoutes(router, parts.auth ? where | api::Where::kLogin : where, sources);
}

void AddReplicaRoutes(http::Router& router, const ApiParts& parts) {
  std::vector<api::Source> sources = SharedSources(router, parts);
  sources.push_back(api::Give(api::WebAccess{.is_shown = false}));
  sources.push_back(api::Give(parts.metadata.instance));
  api::AddAllRoutes(router, api::Where::kReplicas, sources);
}

void AddSupervisorRoutes(http::Router& router, control::JobService& jobs) {
  const api::Source attach = api::Give(api::Supervisors{engine::AttachHandler(jobs.gateway())});
  api::AddAllRoutes(router, api::Where::kSupervisors, {&attach, 1});
}

}  // namespace trainyard::server
