#include <array>

#include "rules/iam/method_rows.h"

namespace trainyard::iam {
namespace {

constexpr std::array kRows{
    Ask(Scope::kProject, "GET /trainyard/v1/projects/{project}/jobs", "ml.jobs.list",
        "trainyard.v1.Jobs.ListRows", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /trainyard/v1/projects/{project}/jobs:watch", "ml.jobs.list",
        "trainyard.v1.Jobs.Watch", AuditKind::kDataRead),
    Ask(Scope::kProject, "GET /trainyard/v1/projects/{project}/jobs:summarize", "ml.jobs.list",
        "trainyard.v1.Jobs.Summarize", AuditKind::kDataRead),
    // Not only a read: it asks registries, by the server's own credentials where the caller may.
    Ask(Scope::kProject, "POST /trainyard/v1/projects/{project}/jobs:validate", "ml.jobs.create",
        "trainyard.v1.Jobs.Validate", AuditKind::kDataWrite),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/events", "ml.jobs.get",
        "trainyard.v1.Jobs.GetTimeline", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}", "ml.jobs.get",
        "trainyard.v1.Jobs.GetStatus", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/metrics", "ml.jobs.get",
        "trainyard.v1.Jobs.GetMetrics", AuditKind::kDataRead),
    // Whoever may read the project's logs, or see the job: as entries:list of the one job.
    InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:read", "logging.logEntries.list",
              "trainyard.v1.JobLogs.Read", AuditKind::kDataRead),
    InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:search", "logging.logEntries.list",
              "trainyard.v1.JobLogs.Search", AuditKind::kDataRead),
    InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:summarize", "logging.logEntries.list",
              "trainyard.v1.JobLogs.Summarize", AuditKind::kDataRead),
    InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:download", "logging.logEntries.list",
              "trainyard.v1.JobLogs.Download", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/scalars", "ml.jobs.get",
        "trainyard.v1.Jobs.ListScalars", AuditKind::kDataRead),
    // Of each job that the query names; others are as if they were not there.
    InHandler("POST /trainyard/v1/projects/{project}/scalars:query", "ml.jobs.get",
              "trainyard.v1.Jobs.QueryScalars", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries", "ml.jobs.get",
        "trainyard.v1.Jobs.ListSummaries", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries:read", "ml.jobs.get",
        "trainyard.v1.Jobs.ReadSummary", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/tuning:explain", "ml.jobs.get",
        "trainyard.v1.Jobs.ExplainTuning", AuditKind::kDataRead),
    Ask(Scope::kProject,
        "GET /trainyard/v1/projects/{project}/locations/{location}/studies/{study}/tuning:explain",
        "ml.studies.get", "trainyard.v1.Studies.ExplainTuning", AuditKind::kDataRead),
    Ask(Scope::kJob, "DELETE /trainyard/v1/projects/{project}/jobs/{job}", "trainyard.jobs.delete",
        "trainyard.v1.Jobs.Delete", AuditKind::kAdminActivity),
    Ask(Scope::kJob, "POST /trainyard/v1/projects/{project}/jobs/{job}:maintain", "trainyard.jobs.maintain",
        "trainyard.v1.Jobs.Maintain", AuditKind::kAdminActivity),
    Ask(Scope::kJob, "POST /trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shellTicket",
        "trainyard.jobs.shell", "trainyard.v1.Jobs.CreateShellTicket", AuditKind::kAdminActivity),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shell",
        "trainyard.jobs.shell", "trainyard.v1.Jobs.OpenShell", AuditKind::kAdminActivity),
    // The ticket is the credential: it opens once, for who got it a moment ago.
    Public("GET /trainyard/v1/shells/{ticket}"),
    // The handlers ask for objects.list, too, where the row has another permission.
    Ask(Scope::kBucket, "GET /trainyard/v1/buckets/{bucket}/folder:summarize", "storage.objects.list",
        "trainyard.v1.Folders.Summarize", AuditKind::kDataRead),
    Ask(Scope::kBucket, "GET /trainyard/v1/buckets/{bucket}/folder:download", "storage.objects.get",
        "trainyard.v1.Folders.Download", AuditKind::kDataRead),
    Ask(Scope::kBucket, "DELETE /trainyard/v1/buckets/{bucket}/folder", "storage.objects.delete",
        "trainyard.v1.Folders.Delete", AuditKind::kDataWrite),
    LoggedIn("GET /trainyard/v1/runtimes", "trainyard.v1.Runtimes.List"),
    // Names of buckets and images in them only for who has trainyard.server.get.
    LoggedIn("GET /trainyard/v1/machine", "trainyard.v1.Machine.Get"),
    LoggedIn("GET /trainyard/v1/machine/usage", "trainyard.v1.Machine.GetUsage"),
    LoggedIn("GET /trainyard/v1/images", "trainyard.v1.Images.List"),
    // It shows the projects on which the caller has the permission.
    InHandler("GET /trainyard/v1/usage", "trainyard.usage.get", "trainyard.v1.Usage.Get",
              AuditKind::kDataRead),
    Ask(Scope::kInstallation, "GET /trainyard/v1/admin/status", "trainyard.server.get",
        "trainyard.v1.Server.GetStatus", AuditKind::kDataRead),
    Ask(Scope::kInstallation, "POST /trainyard/v1/admin/drain", "trainyard.server.drain",
        "trainyard.v1.Server.Drain", AuditKind::kAdminActivity),
    Ask(Scope::kInstallation, "POST /trainyard/v1/admin/backup", "trainyard.server.backup",
        "trainyard.v1.Server.StartBackup", AuditKind::kAdminActivity),
    Ask(Scope::kInstallation, "GET /trainyard/v1/admin/backup", "trainyard.server.backup",
        "trainyard.v1.Server.GetBackup", AuditKind::kDataRead),
    Ask(Scope::kInstallation, "POST /trainyard/v1/admin/reload", "trainyard.server.reload",
        "trainyard.v1.Server.Reload", AuditKind::kAdminActivity),
    Ask(Scope::kInstallation, "GET /metrics", "trainyard.server.getMetrics", "trainyard.v1.Server.GetMetrics",
        AuditKind::kDataRead),
    // Whether the server is up, for who starts and watches it: yes or no, and no names.
    Public("GET /healthz"),
    Public("GET /readyz"),
    // The metadata server has its own rule: the connection says which attempt asks. Others get a page.
    Public("GET /"),
    Public("GET /computeMetadata/"),
    Public("GET /computeMetadata/v1"),
    Public("GET /computeMetadata/v1/"),
    Public("GET /computeMetadata/v1/{path=**}"),
    // The console's files and the ways to it: the same for everybody. What it shows, it asks for.
    Public("GET /favicon.ico"),
    Public("GET /ui"),
    Public("GET /ui/"),
    Public("GET /ui/{path=**}"),
    Public("GET /mlengine/jobs/{job}"),
    Public("GET /logs"),
    // What is shown proves who asks: a token, or the cookie that it was exchanged for.
    Public("GET /trainyard/v1/session"),
    Public("POST /trainyard/v1/session"),
    Public("DELETE /trainyard/v1/session"),
    // Supervisors show their attempt's own token, which no policy knows.
    Public("GET /replica/v1/attach"),
};

}  // namespace

std::span<const MethodRule> OwnRows() { return kRows; }

}  // namespace trainyard::iam
