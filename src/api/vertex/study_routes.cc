#include <google/protobuf/empty.pb.h>

#include "api/vertex/study_handlers.h"
#include "api/vertex/vertex_tables.h"
#include "google/cloud/aiplatform/v1/vizier_service.pb.h"
#include "google/longrunning/operations.pb.h"

namespace trainyard::api {
namespace {

using google::longrunning::Operation;
using google::protobuf::Empty;
using iam::Ask;
using enum iam::AuditKind;
using enum iam::Scope;
namespace aip = google::cloud::aiplatform::v1;

// Replicas may use studies, as in ml v1.
constexpr Route kStudyRoutes[] = {
    {Ask(kProject, "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies",
         "aiplatform.studies.create", "google.cloud.aiplatform.v1.VizierService.CreateStudy", kDataWrite),
     kEverywhere, Ml<aip::Study>(), kCall<vertex_studies::CreateStudy>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies",
         "aiplatform.studies.list", "google.cloud.aiplatform.v1.VizierService.ListStudies", kDataRead),
     kEverywhere, Ml<aip::ListStudiesResponse>("pageSize pageToken"), kCall<vertex_studies::ListStudies>},
    {Ask(kProject, "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies:lookup",
         "aiplatform.studies.get", "google.cloud.aiplatform.v1.VizierService.LookupStudy", kDataRead),
     kEverywhere, Ml<aip::Study>(), kCall<vertex_studies::LookupStudy>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}",
         "aiplatform.studies.get", "google.cloud.aiplatform.v1.VizierService.GetStudy", kDataRead),
     kEverywhere, Ml<aip::Study>(), kCall<vertex_studies::GetStudy>},
    {Ask(kProject, "DELETE /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}",
         "aiplatform.studies.delete", "google.cloud.aiplatform.v1.VizierService.DeleteStudy", kDataWrite),
     kEverywhere, Ml<Empty>(), kCall<vertex_studies::DeleteStudy>},
    {Ask(kProject,
         "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials",
         "aiplatform.trials.create", "google.cloud.aiplatform.v1.VizierService.CreateTrial", kDataWrite),
     kEverywhere, Ml<aip::Trial>(), kCall<vertex_studies::CreateTrial>},
    {Ask(kProject,
         "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials",
         "aiplatform.trials.list", "google.cloud.aiplatform.v1.VizierService.ListTrials", kDataRead),
     kEverywhere, Ml<aip::ListTrialsResponse>("pageSize pageToken"), kCall<vertex_studies::ListTrials>},
    {Ask(kProject,
         "POST /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials:suggest",
         "aiplatform.trials.create", "google.cloud.aiplatform.v1.VizierService.SuggestTrials", kDataWrite),
     kEverywhere, Ml<Operation>(), kCall<vertex_studies::SuggestTrials>},
    {Ask(kProject,
         "POST "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/"
         "trials:listOptimalTrials",
         "aiplatform.trials.list", "google.cloud.aiplatform.v1.VizierService.ListOptimalTrials", kDataRead),
     kEverywhere, Ml<aip::ListOptimalTrialsResponse>(), kCall<vertex_studies::ListOptimalTrials>},
    {Ask(kProject,
         "GET /aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}",
         "aiplatform.trials.get", "google.cloud.aiplatform.v1.VizierService.GetTrial", kDataRead),
     kEverywhere, Ml<aip::Trial>(), kCall<vertex_studies::GetTrial>},
    {Ask(kProject,
         "DELETE "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}",
         "aiplatform.trials.delete", "google.cloud.aiplatform.v1.VizierService.DeleteTrial", kDataWrite),
     kEverywhere, Ml<Empty>(), kCall<vertex_studies::DeleteTrial>},
    {Ask(kProject,
         "POST "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/"
         "{trial}:addTrialMeasurement",
         "aiplatform.trials.update", "google.cloud.aiplatform.v1.VizierService.AddTrialMeasurement",
         kDataWrite),
     kEverywhere, Ml<aip::Trial>(), kCall<vertex_studies::AddMeasurement>},
    {Ask(kProject,
         "POST "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/"
         "{trial}:complete",
         "aiplatform.trials.update", "google.cloud.aiplatform.v1.VizierService.CompleteTrial", kDataWrite),
     kEverywhere, Ml<aip::Trial>(), kCall<vertex_studies::CompleteTrial>},
    {Ask(kProject,
         "POST "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}:stop",
         "aiplatform.trials.update", "google.cloud.aiplatform.v1.VizierService.StopTrial", kDataWrite),
     kEverywhere, Ml<aip::Trial>(), kCall<vertex_studies::StopTrial>},
    // It may mark the trial as one to stop.
    {Ask(kProject,
         "POST "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/"
         "{trial}:checkTrialEarlyStoppingState",
         "aiplatform.trials.update", "google.cloud.aiplatform.v1.VizierService.CheckTrialEarlyStoppingState",
         kDataWrite),
     kEverywhere, Ml<Operation>(), kCall<vertex_studies::CheckEarlyStopping>},
    {Ask(kProject, "GET /aiplatform/{version}/projects/{project}/locations/{location}/operations/{operation}",
         "aiplatform.operations.get", "google.longrunning.Operations.GetOperation", kDataRead),
     kEverywhere, Ml<Operation>(), kCall<vertex_studies::GetOperation>},
    {Ask(kProject,
         "GET "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/operations/"
         "{operation}",
         "aiplatform.operations.get", "google.longrunning.Operations.GetOperation", kDataRead),
     kEverywhere, Ml<Operation>(), kCall<vertex_studies::GetOperation>},
    {Ask(kProject,
         "GET "
         "/aiplatform/{version}/projects/{project}/locations/{location}/studies/{number}/trials/{trial}/"
         "operations/{operation}",
         "aiplatform.operations.get", "google.longrunning.Operations.GetOperation", kDataRead),
     kEverywhere, Ml<Operation>(), kCall<vertex_studies::GetOperation>},
};

}  // namespace

std::span<const Route> VertexStudyRoutes() { return kStudyRoutes; }

}  // namespace trainyard::api
