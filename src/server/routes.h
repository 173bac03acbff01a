#pragma once

#include <string>
#include <vector>

#include "api/metadata/metadata_handlers.h"
#include "api/ml/ml_handlers.h"
#include "api/own/own_handlers.h"
#include "net/access/audit_line.h"
#include "net/http/router.h"

namespace trainyard {
class Clock;
class LoopWatch;
}  // namespace trainyard

namespace trainyard::audit {
class AuditSearch;
}  // namespace trainyard::audit

namespace trainyard::control {
class JobService;
class RequestQuota;
}  // namespace trainyard::control

namespace trainyard::curves {
class JobCurves;
}  // namespace trainyard::curves

namespace trainyard::http {
class ConnectionBudget;
struct RequestCounts;
}  // namespace trainyard::http

namespace trainyard::identity {
class Identities;
}  // namespace trainyard::identity

namespace trainyard::logs {
class LogLines;
class LogStore;
class LogTails;
}  // namespace trainyard::logs

namespace trainyard::metrics {
class UsageHistory;
}  // namespace trainyard::metrics

namespace trainyard::storage {
class Buckets;
}  // namespace trainyard::storage

namespace trainyard::studies {
class StudyService;
}  // namespace trainyard::studies

/// The parts of the server that its routes use. They outlive the routers. docs/adr/0022 says which part of
/// the API is available on which sockets.
namespace trainyard::server {

struct ApiParts {
  const Clock& clock;
  control::JobService& jobs;
  studies::StudyService& studies;
  storage::Buckets& buckets;
  identity::Identities& identities;
  logs::LogStore& logs;
  logs::LogTails& tails;
  logs::LogLines& lines;
  metrics::UsageHistory& usage;
  curves::JobCurves& curves;
  control::RequestQuota& request_quota;
  const http::RequestCounts& request_counts;
  const http::ConnectionBudget& connections;
  const LoopWatch& loop;
  std::function<std::vector<api::MetricsSources::Limit>()> limits;  ///< replicas' limits on this machine
  api::RuntimeSource runtimes;
  api::MachineSource machine;
  std::function<void(control::v1::UsageReport&)> add_machine;  ///< api::UsageSource
  api::RegionOffers region_offers;
  api::MetadataAnswers metadata;
  api::Administration& administration;
  bool auth = false;  ///< requests need a token
  /// api::Sessions::secret_of.
  std::function<std::string(std::string_view token)> session_secret;
  access::AuditSink audit_logins;  ///< null: nothing is recorded
  std::string server_url;          ///< the URL for key files and identity tokens, whatever Host clients send
  std::vector<std::string> own_urls;    ///< what a JWT may name as its audience: stores/identity/jwt_rules.h
  audit::AuditSearch* audit = nullptr;  ///< null: the audit log is not shown
};

/// The sources of the figures in /metrics.
[[nodiscard]] api::MetricsSources MetricsOf(const ApiParts& parts);

/// Adds all routes except those for supervisors.
void AddAdministrationRoutes(http::Router& router, const ApiParts& parts);

/// Adds buckets, the metadata server, the replica's TPU, logs, studies, and reading jobs; requests to the
/// rest of the API get an error that names the method.
void AddReplicaRoutes(http::Router& router, const ApiParts& parts);

/// Adds the route for connections of supervisors, and nothing else.
void AddSupervisorRoutes(http::Router& router, control::JobService& jobs);

}  // namespace trainyard::server
