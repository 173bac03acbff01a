#include <google/protobuf/empty.pb.h>

#include "api/ml/ml_handlers.h"
#include "api/route.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"
#include "trainyard/ml/v1/study_operations.pb.h"

namespace trainyard::api {
namespace {

using google::protobuf::Empty;
using iam::Ask;
using enum iam::AuditKind;
using iam::LoggedIn;
using iam::Public;
using enum iam::Scope;
using iam::v1::Policy;
using iam::v1::TestIamPermissionsResponse;
using longrunning::ListOperationsResponse;
using longrunning::Operation;
using namespace ml::v1;  // NOLINT: its messages

constexpr Route kMlRoutes[] = {
    // Names of methods that Cloud Audit Logs never published (studies) are inferred from those it did. The
    // handler also checks the rights on what the job names: its service account, its image.
    {Ask(kProject, "POST /v1/projects/{project}/jobs", "ml.jobs.create",
         "google.cloud.ml.v1.JobService.CreateJob", kAdminActivity),
     kOutsideOnly, Ml<Job>({}, Form::Kind::kMlCreate), kCall<CreateJob>},
    {Ask(kProject, "GET /v1/projects/{project}/jobs", "ml.jobs.list",
         "google.cloud.ml.v1.JobService.ListJobs", kDataRead),
     kEverywhere, Ml<ListJobsResponse>("filter pageSize pageToken"), kCall<ListJobs>},
    {Ask(kJob, "GET /v1/projects/{project}/jobs/{job}", "ml.jobs.get", "google.cloud.ml.v1.JobService.GetJob",
         kDataRead),
     kEverywhere, Ml<Job>(), kCall<GetJob>},
    {Ask(kJob, "PATCH /v1/projects/{project}/jobs/{job}", "ml.jobs.update",
         "google.cloud.ml.v1.JobService.UpdateJob", kAdminActivity),
     kOutsideOnly, Ml<Job>("updateMask"), kCall<PatchJob>},
    {Ask(kJob, "POST /v1/projects/{project}/jobs/{job}:cancel", "ml.jobs.cancel",
         "google.cloud.ml.v1.JobService.CancelJob", kAdminActivity),
     kOutsideOnly, Ml<Empty>(), kCall<CancelJob>},
    {Ask(kJob, "GET /v1/projects/{project}/jobs/{job}:getIamPolicy", "ml.jobs.getIamPolicy",
         "google.iam.v1.IAMPolicy.GetIamPolicy", kDataRead),
     kOutsideOnly, Ml<Policy>("options.requestedPolicyVersion"), kCall<GetJobPolicy>},
    {Ask(kJob, "POST /v1/projects/{project}/jobs/{job}:setIamPolicy", "ml.jobs.setIamPolicy",
         "google.iam.v1.IAMPolicy.SetIamPolicy", kAdminActivity),
     kOutsideOnly, Ml<Policy>(), kCall<SetJobPolicy>},
    // Its answer only contains the caller's permissions: none, if the caller may not see the job.
    {LoggedIn("POST /v1/projects/{project}/jobs/{job}:testIamPermissions",
              "google.iam.v1.IAMPolicy.TestIamPermissions"),
     kOutsideOnly, Ml<TestIamPermissionsResponse>(), kCall<TestJobPermissions>},
    {Ask(kProject, "GET /v1/projects/{project}:getConfig", "ml.projects.getConfig",
         "google.cloud.ml.v1.ProjectManagementService.GetConfig", kDataRead),
     kEverywhere, Ml<GetConfigResponse>(), kCall<GetConfig>},
    {Ask(kProject, "GET /v1/projects/{project}/locations", "ml.locations.list",
         "google.cloud.ml.v1.ProjectManagementService.ListLocations", kDataRead),
     kEverywhere, Ml<ListLocationsResponse>("pageSize pageToken"), kCall<ListLocations>},
    {Ask(kProject, "GET /v1/projects/{project}/locations/{location}", "ml.locations.get",
         "google.cloud.ml.v1.ProjectManagementService.GetLocation", kDataRead),
     kEverywhere, Ml<Location>(), kCall<GetLocation>},
    {Ask(kProject, "GET /v1/projects/{project}/operations", "ml.operations.list",
         "google.longrunning.Operations.ListOperations", kDataRead),
     kEverywhere, Ml<ListOperationsResponse>("filter pageSize pageToken returnPartialSuccess"),
     kCall<ListOperations>},
    {Ask(kProject, "GET /v1/projects/{project}/operations/{operation}", "ml.operations.get",
         "google.longrunning.Operations.GetOperation", kDataRead),
     kEverywhere, Ml<Operation>(), kCall<GetOperation>},
    {Ask(kProject, "POST /v1/projects/{project}/operations/{operation}:cancel", "ml.operations.cancel",
         "google.longrunning.Operations.CancelOperation", kAdminActivity),
     kEverywhere, Ml<Empty>(), kCall<CancelOperation>},
    {Ask(kProject, "GET /v1/projects/{project}/locations/{location}/operations/{operation}",
         "ml.operations.get", "google.longrunning.Operations.GetOperation", kDataRead),
     kEverywhere, Ml<Operation>(), kCall<GetStudyOperation>},
    {Ask(kProject, "POST /v1/projects/{project}/locations/{location}/operations/{operation}:cancel",
         "ml.operations.cancel", "google.longrunning.Operations.CancelOperation", kAdminActivity),
     kEverywhere, Ml<Empty>(), kCall<CancelStudyOperation>},
    {Ask(kProject, "POST /v1/projects/{project}/locations/{location}/studies", "ml.studies.create",
         "google.cloud.ml.v1.VizierService.CreateStudy", kDataWrite),
     kEverywhere, Ml<Study>("studyId"), kCall<CreateStudy>},
    {Ask(kProject, "GET /v1/projects/{project}/locations/{location}/studies", "ml.studies.list",
         "google.cloud.ml.v1.VizierService.ListStudies", kDataRead),
     kEverywhere, Ml<ListStudiesResponse>(), kCall<ListStudies>},
    {Ask(kProject, "GET /v1/projects/{project}/locations/{location}/studies/{study}", "ml.studies.get",
         "google.cloud.ml.v1.VizierService.GetStudy", kDataRead),
     kEverywhere, Ml<Study>(), kCall<GetStudy>},
    {Ask(kProject, "DELETE /v1/projects/{project}/locations/{location}/studies/{study}", "ml.studies.delete",
         "google.cloud.ml.v1.VizierService.DeleteStudy", kDataWrite),
     kEverywhere, Ml<Empty>(), kCall<DeleteStudy>},
    {Ask(kProject, "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials",
         "ml.trials.create", "google.cloud.ml.v1.VizierService.CreateTrial", kDataWrite),
     kEverywhere, Ml<Trial>(), kCall<CreateTrial>},
    {Ask(kProject, "GET /v1/projects/{project}/locations/{location}/studies/{study}/trials", "ml.trials.list",
         "google.cloud.ml.v1.VizierService.ListTrials", kDataRead),
     kEverywhere, Ml<ListTrialsResponse>(), kCall<ListTrials>},
    {Ask(kProject, "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials:suggest",
         "ml.trials.create", "google.cloud.ml.v1.VizierService.SuggestTrials", kDataWrite),
     kEverywhere, Ml<Operation>(), kCall<SuggestTrials>},
    {Ask(kProject,
         "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials:listOptimalTrials",
         "ml.trials.list", "google.cloud.ml.v1.VizierService.ListOptimalTrials", kDataRead),
     kEverywhere, Ml<ListOptimalTrialsResponse>(), kCall<ListOptimalTrials>},
    {Ask(kProject, "GET /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}",
         "ml.trials.get", "google.cloud.ml.v1.VizierService.GetTrial", kDataRead),
     kEverywhere, Ml<Trial>(), kCall<GetTrial>},
    {Ask(kProject, "DELETE /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}",
         "ml.trials.delete", "google.cloud.ml.v1.VizierService.DeleteTrial", kDataWrite),
     kEverywhere, Ml<Empty>(), kCall<DeleteTrial>},
    {Ask(kProject,
         "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:addMeasurement",
         "ml.trials.update", "google.cloud.ml.v1.VizierService.AddTrialMeasurement", kDataWrite),
     kEverywhere, Ml<Trial>(), kCall<AddMeasurement>},
    {Ask(kProject, "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:complete",
         "ml.trials.update", "google.cloud.ml.v1.VizierService.CompleteTrial", kDataWrite),
     kEverywhere, Ml<Trial>(), kCall<CompleteTrial>},
    {Ask(kProject, "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:stop",
         "ml.trials.update", "google.cloud.ml.v1.VizierService.StopTrial", kDataWrite),
     kEverywhere, Ml<Trial>(), kCall<StopTrial>},
    // It may mark the trial as one to stop.
    {Ask(kProject,
         "POST "
         "/v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:checkEarlyStoppingState",
         "ml.trials.update", "google.cloud.ml.v1.VizierService.CheckTrialEarlyStoppingState", kDataWrite),
     kEverywhere, Ml<Operation>(), kCall<CheckEarlyStopping>},
    // Which regions there are is not secret.
    {LoggedIn("GET /compute/v1/projects/{project}/regions/{region}", "v1.compute.regions.get"), kOutside,
     kBare, kCall<GetComputeRegion>},
    {LoggedIn("GET /compute/v1/projects/{project}/zones/{zone}", "v1.compute.zones.get"), kOutside, kBare,
     kCall<GetComputeZone>},
    // Only in replicas, and only for the attempt that the connection belongs to: describes its own TPU.
    {Public("GET /v1/projects/{project}/locations/{location}/nodes"), Where::kReplicas, kBare,
     kCall<ListTpuNodes>},
    {Public("GET /v1/projects/{project}/locations/{location}/nodes/{node}"), Where::kReplicas, kBare,
     kCall<GetTpuNode>},
};

}  // namespace

std::span<const Route> MlRoutes() { return kMlRoutes; }

}  // namespace trainyard::api
