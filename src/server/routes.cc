#include "server/routes.h"

#include "api/batch_handlers.h"
#include "api/discovery_handlers.h"
#include "api/logging_handlers.h"
#include "api/metrics_handlers.h"
#include "api/ml_handlers.h"
#include "api/ml_methods.h"
#include "api/storage_handlers.h"
#include "api/tpu_handlers.h"
#include "api/welcome_page.h"
#include "control/job_service.h"
#include "engine/replica_link.h"

namespace trainyard::server {

namespace {

/// What both sides have.
void AddSharedRoutes(http::Router& router, api::MlMethods& ml, const ApiParts& parts) {
  api::AddHealthRoute(router);
  api::AddDiscoveryRoutes(router);
  api::AddProjectRoutes(ml);
  api::AddStudyRoutes(ml, parts.studies);
  api::AddStorageRoutes(router, parts.buckets, parts.identities);
  api::AddBatchRoutes(router);
  api::AddLoggingRoutes(router, parts.logs, parts.tails);
  api::AddMetadataRoutes(router, parts.metadata);
}

}  // namespace

void AddAdministrationRoutes(http::Router& router, const ApiParts& parts) {
  api::MlMethods ml(router, parts.request_quota);
  AddSharedRoutes(router, ml, parts);
  api::AddIconRoute(router);
  api::AddJobRoutes(ml, parts.jobs);
  api::AddPolicyRoutes(ml, parts.jobs);
  api::AddShellRoutes(router, parts.jobs, parts.clock);
  api::AddStatusRoutes(router, parts.jobs);
  api::AddRuntimeRoutes(router, parts.runtimes);
  api::AddMetricsRoutes(router, {.jobs = parts.jobs,
                                 .usage = parts.usage,
                                 .requests = parts.request_counts,
                                 .connections = parts.connections,
                                 .loop = parts.loop,
                                 .limits = parts.limits});
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
