#include "server/routes.h"

#include <set>

#include "api/batch_handlers.h"
#include "api/console/console_handlers.h"
#include "api/discovery_handlers.h"
#include "api/iam/identity_handlers.h"
#include "api/iam/session_handlers.h"
#include "api/logging/logging_handlers.h"
#include "api/ml/insight_handlers.h"
#include "api/ml/ml_methods.h"
#include "api/ml/tpu_handlers.h"
#include "api/own/curve_handlers.h"
#include "api/own/job_log_handlers.h"
#include "api/own/job_row_handlers.h"
#include "api/own/metrics_handlers.h"
#include "api/storage/folder_handlers.h"
#include "api/storage/storage_handlers.h"
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

/// What both sides have.
void AddSharedRoutes(http::Router& router, api::MlMethods& ml, const ApiParts& parts) {
  api::AddHealthRoute(router);
  api::AddDiscoveryRoutes(router);
  api::AddProjectRoutes(ml, parts.region_offers, [&known = parts.identities](std::string_view project) {
    return known.ShownNumber(project);
  });
  api::AddStudyRoutes(ml, parts.studies);
  api::AddStorageRoutes(router, parts.buckets, parts.identities);
  api::AddBatchRoutes(router);
  api::AddLoggingRoutes(router, parts.logs, parts.tails, {}, parts.audit);
  api::AddMetadataRoutes(router, parts.metadata);
}

/// Projects that exist because they have unfinished jobs.
api::MoreProjects ProjectsOfJobs(control::JobService& jobs) {
  return [&jobs]() -> boost::asio::awaitable<Result<std::vector<std::string>>> {
    return UnfinishedProjects(jobs);
  };
}

/// Of those whose jobs it may list.
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

void AddSessionRoutes(http::Router& router, const ApiParts& parts) {
  auto newest = [&jobs = parts.jobs, &known = parts.identities](std::string principal) {
    return NewestProject(jobs, known, std::move(principal));
  };
  api::AddSessionRoutes(router, {.identities = parts.identities,
                                 .clock = parts.clock,
                                 .auth = parts.auth,
                                 .own_audiences = parts.own_urls,
                                 .version = std::string(cli::kVersion),
                                 .secret_of = parts.session_secret,
                                 .audit = parts.audit_logins,
                                 .newest_project = std::move(newest)});
}

void AddIdentityRoutes(http::Router& router, const ApiParts& parts) {
  api::AddServiceAccountRoutes(router, parts.identities);
  api::AddServiceAccountKeyRoutes(router, parts.identities, {.url = parts.server_url});
  api::AddRoleRoutes(router);
  api::AddCredentialsRoutes(router, parts.identities, parts.clock, parts.server_url);
  api::AddResourceManagerRoutes(router, parts.identities, ProjectsOfJobs(parts.jobs));
  api::AddServiceUsageRoutes(router, parts.identities);
  api::AddAccessTokenRoutes(router, parts.identities, parts.own_urls);
  if (parts.auth)
    api::AddTokenEndpoint(router, parts.identities, parts.clock,
                          {.own_audiences = parts.own_urls, .server = parts.server_url});
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
  api::MlMethods ml(router, parts.request_quota);
  AddSharedRoutes(router, ml, parts);
  AddIdentityRoutes(router, parts);
  AddSessionRoutes(router, parts);
  api::AddConsoleRoutes(router);
  api::AddJobRoutes(ml, parts.jobs);
  api::AddPolicyRoutes(ml, parts.jobs);
  api::AddShellRoutes(router, parts.jobs, parts.clock);
  api::AddStatusRoutes(router, parts.jobs);
  api::AddJobRemovalRoute(router, parts.jobs);
  api::AddJobLogRoutes(router, api::LogsOf(parts.jobs, parts.lines));
  api::AddJobRowRoutes(router, parts.jobs);
  api::AddJobWatchRoute(router, parts.jobs);
  api::AddJobCheckRoute(ml, parts.jobs);
  api::AddFolderRoutes(router, parts.buckets);
  api::AddRuntimeRoutes(router, parts.runtimes);
  api::AddMachineRoutes(router, parts.machine);
  api::AddUsageRoutes(router, {.jobs = parts.jobs, .add_machine = parts.add_machine});
  api::AddMetricsRoutes(router, MetricsOf(parts));
  api::AddCurveRoutes(router, parts.curves);
  api::AddInsightRoutes(router, parts.jobs, parts.studies);
  api::AddAdminRoutes(router, parts.administration);
  api::AddReadyRoute(router, parts.administration);
  api::AddMaintenanceRoute(router, parts.jobs);
}

void AddReplicaRoutes(http::Router& router, const ApiParts& parts) {
  api::MlMethods ml(router, parts.request_quota);
  AddSharedRoutes(router, ml, parts);
  api::AddJobRoutesOfReplicas(ml, parts.jobs);
  api::AddTpuRoutes(router, parts.metadata.instance);
  api::AddReplicaRefusals(router);
}

void AddSupervisorRoutes(http::Router& router, control::JobService& jobs) {
  router.Add(http::Method::kGet, "/replica/v1/attach", engine::AttachHandler(jobs.gateway()));
}

}  // namespace trainyard::server
