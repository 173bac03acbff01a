#pragma once

#include <string>
#include <vector>

#include "api/route.h"
#include "net/access/audit_line.h"

namespace trainyard::server {

struct Installation;

/// Returns the function that records decisions about access; null if authentication is off.
[[nodiscard]] access::AuditSink AuditSinkOf(Installation& all);

/// Fills the installation's routers, and guards them with its doors. docs/adr/0022 says which part of the API
/// is available on which sockets. `universe`: see api::MetadataAnswers. Call it when all other parts are
/// made.
void AddRoutes(Installation& all, const std::string& universe);

/// What the functions of a Google front (api::GoogleFront) are called with, for users or for replicas.
[[nodiscard]] std::vector<api::Source> FrontSources(Installation& all, bool is_for_users);

/// The routes for monitoring, which anyone may request: the answers name no job and no project.
[[nodiscard]] http::Router MonitoringRoutes(Installation& all);

}  // namespace trainyard::server
