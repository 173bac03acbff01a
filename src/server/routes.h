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

/// Which part of the API answers on which sockets (docs/adr/0022). What is given outlives the routers.
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
  std::function<std::vector<api::MetricsSources::Limit>()> limits;  ///< of replicas, on this machine
  api::RuntimeSource runtimes;
  api::MachineSource machine;
  std::function<void(control::v1::UsageReport&)> add_machine;  ///< api::UsageSource
  api::RegionOffers region_offers;
  api::MetadataAnswers metadata;
  api::Administration& administration;
  bool auth = false;  ///< who asks has to log in
  /// api::Sessions::secret_of.
  std::function<std::string(std::string_view token)> session_secret;
  access::AuditSink audit_logins;  ///< null: nothing is kept
  std::string
      server_url;  ///< where clients find it: in key files and identity tokens, whatever Host they send
  std::vector<std::string> own_urls;    ///< what a JWT may name as its audience: stores/identity/jwt_rules.h
  audit::AuditSearch* audit = nullptr;  ///< null: the audit log is not shown
};

/// The figures that /metrics is made of.
[[nodiscard]] api::MetricsSources MetricsOf(const ApiParts& parts);

/// Everything but what only supervisors ask.
void AddAdministrationRoutes(http::Router& router, const ApiParts& parts);

/// Buckets, the metadata server, the replica's TPU, logs, studies, and jobs to read; the rest of the API is
/// refused by name.
void AddReplicaRoutes(http::Router& router, const ApiParts& parts);

/// The connections of supervisors, and nothing else.
void AddSupervisorRoutes(http::Router& router, control::JobService& jobs);

}  // namespace trainyard::server
