#pragma once

#include "control/job_service.h"
#include "http/router.h"

namespace trainyard::api {

/// projects.jobs of ml v1: create, get, list, patch, cancel. `jobs` outlives the router.
void AddJobRoutes(http::Router& router, control::JobService& jobs);

}  // namespace trainyard::api
