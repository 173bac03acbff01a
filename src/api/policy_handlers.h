#pragma once

#include "api/ml_methods.h"
#include "control/job_service.h"

namespace trainyard::api {

/// getIamPolicy, setIamPolicy and testIamPermissions of projects.jobs: policies are kept and shown, not
/// enforced. `jobs` outlives the router.
void AddPolicyRoutes(MlMethods& methods, control::JobService& jobs);

}  // namespace trainyard::api
