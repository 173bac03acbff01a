#pragma once

#include "control/job_service.h"
#include "http/router.h"

namespace trainyard::api {

/// GET /trainyard/v1/projects/P/jobs/J: the extension resource JobStatus (control/v1/status.proto). `jobs`
/// outlives the router.
void AddStatusRoutes(http::Router& router, control::JobService& jobs);

}  // namespace trainyard::api
