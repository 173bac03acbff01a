#include <array>

#include "iam/method_rows.h"

namespace trainyard::iam {
namespace {

constexpr std::array kRows{
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}", "ml.jobs.get",
        "trainyard.v1.Jobs.GetStatus", AuditKind::kDataRead),
    Ask(Scope::kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/metrics", "ml.jobs.get",
        "trainyard.v1.Jobs.GetMetrics", AuditKind::kDataRead),
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
    LoggedIn("GET /trainyard/v1/runtimes", "trainyard.v1.Runtimes.List"),
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
    Public("GET /favicon.ico"),
    // Supervisors show their attempt's own token, which no policy knows.
    Public("GET /replica/v1/attach"),
};

}  // namespace

std::span<const MethodRule> OwnRows() { return kRows; }

}  // namespace trainyard::iam
