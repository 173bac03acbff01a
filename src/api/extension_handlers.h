#pragma once

#include <string>

#include "control/job_service.h"
#include "http/router.h"

/// What the administration's port has beside Google's APIs, and how a replica's is refused what it lacks. Loop
/// thread only.
namespace trainyard::api {

/// GET /trainyard/v1/projects/P/jobs/J: the extension resource JobStatus (control/v1/status.proto). `jobs`
/// outlives the router.
void AddStatusRoutes(http::Router& router, control::JobService& jobs);

/// The replicas' shells: what trainingOutput.webAccessUris points at. A WebSocket (src/shell/session.h); a
/// plain GET is told how to open it. Query parameters: token, rows, columns. `program` is this program's
/// path.
void AddShellRoutes(http::Router& router, control::JobService& jobs, std::string program = "/proc/self/exe");

/// Answers what the administration's API has and a replica's has not: creating, changing and cancelling jobs,
/// their policies, shells, maintenance, status and figures. kPermissionDenied, with what a replica may do and
/// where the rest is done. Paths that no API has stay kNotFound. Source: docs/adr/0022.
void AddReplicaRefusals(http::Router& router);

}  // namespace trainyard::api
