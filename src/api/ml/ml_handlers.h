#pragma once

#include <functional>
#include <string>

#include "api/ml/ml_methods.h"
#include "control/job_service.h"
#include "stores/studies/study_service.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The methods of ml v1, one source file for each resource. Loop thread only.
namespace trainyard::api {

/// projects.jobs of ml v1: create, get, list, patch, cancel. `jobs` outlives the router.
void AddJobRoutes(MlMethods& methods, control::JobService& jobs);

/// projects.jobs for programs in replicas: get and list, without trainingOutput.webAccessUris, because the
/// address alone opens a shell. The rest is refused: AddReplicaRefusals.
void AddJobRoutesOfReplicas(MlMethods& methods, control::JobService& jobs);

/// getIamPolicy, setIamPolicy and testIamPermissions of projects.jobs: policies are kept and shown, not
/// enforced. `jobs` outlives the router.
void AddPolicyRoutes(MlMethods& methods, control::JobService& jobs);

/// Whether a job of the region can get accelerators of the type on this installation.
using RegionOffers = std::function<bool(const std::string& region, ml::v1::AcceleratorConfig::Type type)>;

/// projects.getConfig, projects.locations (list, get) and the operations of both (none: no training method
/// makes one). A location has the accelerators of the original's table that `offers` says, too.
void AddProjectRoutes(MlMethods& methods, RegionOffers offers, cluster::NumberOf number_of);

/// projects.locations.studies, .trials and projects.locations.operations. A location is a region that
/// training runs in; any other is kNotFound. `studies` outlives the router.
void AddStudyRoutes(MlMethods& methods, studies::StudyService& studies);

}  // namespace trainyard::api
