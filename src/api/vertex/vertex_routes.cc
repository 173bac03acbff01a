#include <google/protobuf/empty.pb.h>

#include "api/vertex/job_collections.h"
#include "api/vertex/vertex_tables.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "google/longrunning/operations.pb.h"

namespace trainyard::api {
namespace {

using google::longrunning::Operation;
using google::protobuf::Empty;
using iam::Ask;
using iam::InHandler;
using enum iam::AuditKind;
using enum iam::Scope;
namespace aip = google::cloud::aiplatform::v1;

// {version} is v1 or v1beta1: both have the same field numbers.
constexpr Route kJobRoutes[] = {
    // A create also checks the rights on what the job names: its service account, its image. A cancel needs
    // the permission, or ml.jobs.cancel on the job, which its creator has.
    {Ask(kProject, "POST /aiplatform/{version}/projects/{project}/locations/{location}/customJobs",
         "aiplatform.customJobs.create", "google.cloud.aiplatform.v1.JobService.CreateCustomJob",
         kAdminActivity),
     kOutsideOnly, Ml<aip::CustomJob>({}, Form::Kind::kMlCreate), kCall<CreateJobIn<kCustomJobs>>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/customJobs",
         "aiplatform.customJobs.list", "google.cloud.aiplatform.v1.JobService.ListCustomJobs", kDataRead),
     kOutsideOnly, Ml<aip::ListCustomJobsResponse>("filter pageSize pageToken readMask"),
     kCall<ListJobsIn<kCustomJobs>>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/customJobs/{number}",
         "aiplatform.customJobs.get", "google.cloud.aiplatform.v1.JobService.GetCustomJob", kDataRead),
     kOutsideOnly, Ml<aip::CustomJob>(), kCall<GetJobIn<kCustomJobs>>},
    {Ask(kProject, "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/customJobs/{number}",
         "aiplatform.customJobs.delete", "google.cloud.aiplatform.v1.JobService.DeleteCustomJob",
         kAdminActivity),
     kOutsideOnly, Ml<Operation>(), kCall<DeleteJobIn<kCustomJobs>>},
    {InHandler(
         "POST /aiplatform/{version}/projects/{project}/locations/{location}/customJobs/{number}:cancel",
         "aiplatform.customJobs.cancel", "google.cloud.aiplatform.v1.JobService.CancelCustomJob",
         kAdminActivity, kProject),
     kOutsideOnly, Ml<Empty>(), kCall<CancelJobIn<kCustomJobs>>},
    {Ask(kProject,
         "POST /aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs",
         "aiplatform.hyperparameterTuningJobs.create",
         "google.cloud.aiplatform.v1.JobService.CreateHyperparameterTuningJob", kAdminActivity),
     kOutsideOnly, Ml<aip::HyperparameterTuningJob>({}, Form::Kind::kMlCreate),
     kCall<CreateJobIn<kTuningJobs>>},
    {Ask(kProject,
         "GET /aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs",
         "aiplatform.hyperparameterTuningJobs.list",
         "google.cloud.aiplatform.v1.JobService.ListHyperparameterTuningJobs", kDataRead),
     kOutsideOnly, Ml<aip::ListHyperparameterTuningJobsResponse>("filter pageSize pageToken readMask"),
     kCall<ListJobsIn<kTuningJobs>>},
    {Ask(kProject,
         "GET "
         "/aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs/{number}",
         "aiplatform.hyperparameterTuningJobs.get",
         "google.cloud.aiplatform.v1.JobService.GetHyperparameterTuningJob", kDataRead),
     kOutsideOnly, Ml<aip::HyperparameterTuningJob>(), kCall<GetJobIn<kTuningJobs>>},
    {Ask(kProject,
         "DELETE "
         "/aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs/{number}",
         "aiplatform.hyperparameterTuningJobs.delete",
         "google.cloud.aiplatform.v1.JobService.DeleteHyperparameterTuningJob", kAdminActivity),
     kOutsideOnly, Ml<Operation>(), kCall<DeleteJobIn<kTuningJobs>>},
    {InHandler("POST "
               "/aiplatform/{version}/projects/{project}/locations/{location}/hyperparameterTuningJobs/"
               "{number}:cancel",
               "aiplatform.hyperparameterTuningJobs.cancel",
               "google.cloud.aiplatform.v1.JobService.CancelHyperparameterTuningJob", kAdminActivity,
               kProject),
     kOutsideOnly, Ml<Empty>(), kCall<CancelJobIn<kTuningJobs>>},
    {Ask(kProject, "POST /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines",
         "aiplatform.trainingPipelines.create",
         "google.cloud.aiplatform.v1.PipelineService.CreateTrainingPipeline", kAdminActivity),
     kOutsideOnly, Ml<aip::TrainingPipeline>({}, Form::Kind::kMlCreate),
     kCall<CreateJobIn<kTrainingPipelines>>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines",
         "aiplatform.trainingPipelines.list",
         "google.cloud.aiplatform.v1.PipelineService.ListTrainingPipelines", kDataRead),
     kOutsideOnly, Ml<aip::ListTrainingPipelinesResponse>("filter pageSize pageToken readMask"),
     kCall<ListJobsIn<kTrainingPipelines>>},
    {Ask(kProject,
         "GET /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines/{number}",
         "aiplatform.trainingPipelines.get", "google.cloud.aiplatform.v1.PipelineService.GetTrainingPipeline",
         kDataRead),
     kOutsideOnly, Ml<aip::TrainingPipeline>(), kCall<GetJobIn<kTrainingPipelines>>},
    {Ask(kProject,
         "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines/{number}",
         "aiplatform.trainingPipelines.delete",
         "google.cloud.aiplatform.v1.PipelineService.DeleteTrainingPipeline", kAdminActivity),
     kOutsideOnly, Ml<Operation>(), kCall<DeleteJobIn<kTrainingPipelines>>},
    {InHandler(
         "POST "
         "/aiplatform/{version}/projects/{project}/locations/{location}/trainingPipelines/{number}:cancel",
         "aiplatform.trainingPipelines.cancel",
         "google.cloud.aiplatform.v1.PipelineService.CancelTrainingPipeline", kAdminActivity, kProject),
     kOutsideOnly, Ml<Empty>(), kCall<CancelJobIn<kTrainingPipelines>>},
};

}  // namespace

std::span<const Route> VertexJobRoutes() { return kJobRoutes; }

}  // namespace trainyard::api
