#pragma once

#include <functional>
#include <string>

#include "api/metadata/metadata_handlers.h"
#include "api/route.h"
#include "rules/cluster/project_number.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::control {
class JobService;
}  // namespace trainyard::control

namespace trainyard::studies {
class StudyService;
}  // namespace trainyard::studies

/// The methods of ml v1 (MlRoutes), one source file for each resource. Loop thread only.
namespace trainyard::api {

/// Whether trainingOutput.webAccessUris are shown: not to programs in replicas, because the address alone
/// opens a shell.
struct WebAccess {
  bool is_shown = true;
};

Waits<control::JobService> CreateJob, PatchJob, CancelJob, GetJobPolicy, SetJobPolicy, TestJobPermissions;
Waits<control::JobService, const WebAccess> GetJob, ListJobs;

/// Whether a job of the region can get accelerators of the type on this installation.
using RegionOffers = std::function<bool(const std::string& region, ml::v1::AcceleratorConfig::Type type)>;
/// A location has the accelerators of Google's table that this installation offers, too. There are no
/// operations: no training method makes one.
Answers<const RegionOffers> GetLocation, ListLocations;
Answers<const cluster::NumberOf> GetConfig;
Answers<> ListOperations, GetOperation;
Waits<> CancelOperation;

/// A location is a region that training runs in; any other is kNotFound.
Waits<studies::StudyService> CreateStudy, GetStudy, ListStudies, DeleteStudy, CreateTrial, GetTrial,
    ListTrials, DeleteTrial, SuggestTrials, ListOptimalTrials, AddMeasurement, CompleteTrial, StopTrial,
    CheckEarlyStopping, GetStudyOperation, CancelStudyOperation;

/// What `gcloud config set compute/region` and compute/zone ask the `compute` v1 API: whether there is such a
/// region or zone. Training's are there; any other is kNotFound.
Answers<> GetComputeRegion, GetComputeZone;

/// projects.locations.nodes of Google's `tpu` v1 API, get and list, which TPUClusterResolver calls with a
/// TPU's name. A program only sees the node of its own replica, which TPU_CONFIG names. It is READY, and has
/// no network endpoint: its chips are the machine's own (docs/accelerators.md). kNotFound in Google's words.
/// Source: the API's discovery document (data/discovery/tpu.v1.json); tensorflow/python/tpu/client.
Waits<const AskingInstance> GetTpuNode, ListTpuNodes;

}  // namespace trainyard::api
