#pragma once

#include "api/ml_methods.h"
#include "control/job_service.h"

namespace trainyard::api {

/// projects.jobs of ml v1: create, get, list, patch, cancel. `jobs` outlives the router.
void AddJobRoutes(MlMethods& methods, control::JobService& jobs);

/// projects.jobs as a program in a replica has it: get and list, without trainingOutput.webAccessUris (who
/// knows one has a shell). The rest is refused: AddReplicaRefusals.
void AddJobRoutesOfReplicas(MlMethods& methods, control::JobService& jobs);

}  // namespace trainyard::api
