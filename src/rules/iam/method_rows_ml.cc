#include <array>

#include "rules/iam/method_rows.h"

namespace trainyard::iam {
namespace {

// Names of methods that Cloud Audit Logs never published (studies) are inferred from those it did.
constexpr std::array kRows{
    // The handler asks further for what the job names: its service account, its image.
    Ask(Scope::kProject, "POST /v1/projects/{project}/jobs", "ml.jobs.create",
        "google.cloud.ml.v1.JobService.CreateJob", AuditKind::kAdminActivity),
    Ask(Scope::kProject, "GET /v1/projects/{project}/jobs", "ml.jobs.list",
        "google.cloud.ml.v1.JobService.ListJobs", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /v1/projects/{project}/jobs/{job}", "ml.jobs.get",
        "google.cloud.ml.v1.JobService.GetJob", AuditKind::kDataRead),
    Ask(Scope::kJob, "PATCH /v1/projects/{project}/jobs/{job}", "ml.jobs.update",
        "google.cloud.ml.v1.JobService.UpdateJob", AuditKind::kAdminActivity),
    Ask(Scope::kJob, "POST /v1/projects/{project}/jobs/{job}:cancel", "ml.jobs.cancel",
        "google.cloud.ml.v1.JobService.CancelJob", AuditKind::kAdminActivity),
    Ask(Scope::kJob, "GET /v1/projects/{project}/jobs/{job}:getIamPolicy", "ml.jobs.getIamPolicy",
        "google.iam.v1.IAMPolicy.GetIamPolicy", AuditKind::kDataRead),
    Ask(Scope::kJob, "POST /v1/projects/{project}/jobs/{job}:setIamPolicy", "ml.jobs.setIamPolicy",
        "google.iam.v1.IAMPolicy.SetIamPolicy", AuditKind::kAdminActivity),
    // Its answer is what the caller may: nothing, on what the caller may not see.
    LoggedIn("POST /v1/projects/{project}/jobs/{job}:testIamPermissions",
             "google.iam.v1.IAMPolicy.TestIamPermissions"),
    Ask(Scope::kProject, "GET /v1/projects/{project}:getConfig", "ml.projects.getConfig",
        "google.cloud.ml.v1.ProjectManagementService.GetConfig", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations", "ml.locations.list",
        "google.cloud.ml.v1.ProjectManagementService.ListLocations", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations/{location}", "ml.locations.get",
        "google.cloud.ml.v1.ProjectManagementService.GetLocation", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/operations", "ml.operations.list",
        "google.longrunning.Operations.ListOperations", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/operations/{operation}", "ml.operations.get",
        "google.longrunning.Operations.GetOperation", AuditKind::kDataRead),
    Ask(Scope::kProject, "POST /v1/projects/{project}/operations/{operation}:cancel", "ml.operations.cancel",
        "google.longrunning.Operations.CancelOperation", AuditKind::kAdminActivity),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations/{location}/operations/{operation}",
        "ml.operations.get", "google.longrunning.Operations.GetOperation", AuditKind::kDataRead),
    Ask(Scope::kProject, "POST /v1/projects/{project}/locations/{location}/operations/{operation}:cancel",
        "ml.operations.cancel", "google.longrunning.Operations.CancelOperation", AuditKind::kAdminActivity),
    Ask(Scope::kProject, "POST /v1/projects/{project}/locations/{location}/studies", "ml.studies.create",
        "google.cloud.ml.v1.VizierService.CreateStudy", AuditKind::kDataWrite),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations/{location}/studies", "ml.studies.list",
        "google.cloud.ml.v1.VizierService.ListStudies", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations/{location}/studies/{study}", "ml.studies.get",
        "google.cloud.ml.v1.VizierService.GetStudy", AuditKind::kDataRead),
    Ask(Scope::kProject, "DELETE /v1/projects/{project}/locations/{location}/studies/{study}",
        "ml.studies.delete", "google.cloud.ml.v1.VizierService.DeleteStudy", AuditKind::kDataWrite),
    Ask(Scope::kProject, "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials",
        "ml.trials.create", "google.cloud.ml.v1.VizierService.CreateTrial", AuditKind::kDataWrite),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations/{location}/studies/{study}/trials",
        "ml.trials.list", "google.cloud.ml.v1.VizierService.ListTrials", AuditKind::kDataRead),
    Ask(Scope::kProject, "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials:suggest",
        "ml.trials.create", "google.cloud.ml.v1.VizierService.SuggestTrials", AuditKind::kDataWrite),
    Ask(Scope::kProject,
        "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials:listOptimalTrials",
        "ml.trials.list", "google.cloud.ml.v1.VizierService.ListOptimalTrials", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}",
        "ml.trials.get", "google.cloud.ml.v1.VizierService.GetTrial", AuditKind::kDataRead),
    Ask(Scope::kProject, "DELETE /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}",
        "ml.trials.delete", "google.cloud.ml.v1.VizierService.DeleteTrial", AuditKind::kDataWrite),
    Ask(Scope::kProject,
        "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:addMeasurement",
        "ml.trials.update", "google.cloud.ml.v1.VizierService.AddTrialMeasurement", AuditKind::kDataWrite),
    Ask(Scope::kProject,
        "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:complete",
        "ml.trials.update", "google.cloud.ml.v1.VizierService.CompleteTrial", AuditKind::kDataWrite),
    Ask(Scope::kProject,
        "POST /v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:stop",
        "ml.trials.update", "google.cloud.ml.v1.VizierService.StopTrial", AuditKind::kDataWrite),
    // It may mark the trial as one to stop.
    Ask(Scope::kProject,
        "POST "
        "/v1/projects/{project}/locations/{location}/studies/{study}/trials/{trial}:checkEarlyStoppingState",
        "ml.trials.update", "google.cloud.ml.v1.VizierService.CheckTrialEarlyStoppingState",
        AuditKind::kDataWrite),
    // The body names projects. Who may see one job may read the log of that job.
    InHandler("POST /v2/entries:list", "logging.logEntries.list",
              "google.logging.v2.LoggingServiceV2.ListLogEntries", AuditKind::kDataRead),
    InHandler("GET /v2/entries:tail", "logging.logEntries.list",
              "google.logging.v2.LoggingServiceV2.TailLogEntries", AuditKind::kDataRead),
    InHandler("POST /v2/entries:tail", "logging.logEntries.list",
              "google.logging.v2.LoggingServiceV2.TailLogEntries", AuditKind::kDataRead),
    // In replicas only, and of the attempt alone that the connection is of: what its own TPU is.
    Public("GET /v1/projects/{project}/locations/{location}/nodes"),
    Public("GET /v1/projects/{project}/locations/{location}/nodes/{node}"),
    // Each of its parts is asked for by its own row. The envelope needs a login, too: its body is 10 MB,
    // which
    // are not read for nobody.
    LoggedIn("POST /batch", ""),
    LoggedIn("POST /batch/ml/v1", ""),
    LoggedIn("POST /batch/storage/v1", ""),
    // Descriptions of the APIs, which clients read before they log in.
    Public("GET /$discovery/rest"),
    Public("GET /discovery/v1/apis"),
    Public("GET /discovery/v1/apis/{api}/{version}/rest"),
};

}  // namespace

std::span<const MethodRule> MlRows() { return kRows; }

}  // namespace trainyard::iam
