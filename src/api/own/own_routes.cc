#include "api/own/own_handlers.h"
#include "api/route.h"
#include "trainyard/control/v1/job_check.pb.h"
#include "trainyard/control/v1/job_rows.pb.h"
#include "trainyard/control/v1/log_window.pb.h"
#include "trainyard/control/v1/timeline.pb.h"

namespace trainyard::api {
namespace {

using iam::Ask;
using enum iam::AuditKind;
using iam::InHandler;
using iam::LoggedIn;
using iam::Public;
using enum iam::Scope;
using namespace control::v1;  // NOLINT: its messages

constexpr Where kWatched = kOutsideOnly | Where::kFigures;
constexpr Route kOwnRoutes[] = {
    {Ask(kProject, "GET /trainyard/v1/projects/{project}/jobs", "ml.jobs.list", "trainyard.v1.Jobs.ListRows",
         kDataRead),
     kOutside, Json<JobRows>("filter pageSize pageToken"), kCall<ListJobRows>},
    {Ask(kProject, "GET /trainyard/v1/projects/{project}/jobs:watch", "ml.jobs.list",
         "trainyard.v1.Jobs.Watch", kDataRead),
     kOutside, Stream("filter resumeToken logsOf"), kCall<WatchJobs>},
    {Ask(kProject, "GET /trainyard/v1/projects/{project}/jobs:summarize", "ml.jobs.list",
         "trainyard.v1.Jobs.Summarize", kDataRead),
     kOutside, Json<JobSummary>("filter"), kCall<SummarizeJobs>},
    // Not only a read: it queries registries, with the server's own credentials if the caller may use them.
    {Ask(kProject, "POST /trainyard/v1/projects/{project}/jobs:validate", "ml.jobs.create",
         "trainyard.v1.Jobs.Validate", kDataWrite),
     kOutside, Ml<JobCheck>(), kCall<ValidateJob>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/events", "ml.jobs.get",
         "trainyard.v1.Jobs.GetTimeline", kDataRead),
     kOutside, Json<JobTimeline>("afterSeq trial"), kCall<GetJobTimeline>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}", "ml.jobs.get",
         "trainyard.v1.Jobs.GetStatus", kDataRead),
     kOutside, kBare, kCall<GetJobStatus>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/preparation", "ml.jobs.get",
         "trainyard.v1.Jobs.GetPreparation", kDataRead),
     kOutside, kBare, kCall<GetPreparation>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/metrics", "ml.jobs.get",
         "trainyard.v1.Jobs.GetMetrics", kDataRead),
     kOutside, kBare, kCall<ListSeries>},
    // For callers that may read the project's logs, or see the job: as entries:list of the one job.
    {InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:read", "logging.logEntries.list",
               "trainyard.v1.JobLogs.Read", kDataRead),
     kOutside, Json<LogWindow>("first before time last count whole replica severity trial"),
     kCall<ReadJobLog>},
    {InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:search", "logging.logEntries.list",
               "trainyard.v1.JobLogs.Search", kDataRead),
     kOutside, Json<LogMatches>("query regex matchCase from backward count replica severity trial"),
     kCall<SearchJobLog>},
    {InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:summarize", "logging.logEntries.list",
               "trainyard.v1.JobLogs.Summarize", kDataRead),
     kOutside, Json<LogSummary>("buckets"), kCall<SummarizeJobLog>},
    {InHandler("GET /trainyard/v1/projects/{project}/jobs/{job}/log:download", "logging.logEntries.list",
               "trainyard.v1.JobLogs.Download", kDataRead),
     kOutside, Stream("format replica severity trial"), kCall<DownloadJobLog>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/scalars", "ml.jobs.get",
         "trainyard.v1.Jobs.ListScalars", kDataRead),
     kOutside, kBare, kCall<ListScalars>},
    // Checked for each job that the query names; others are treated as absent.
    {InHandler("POST /trainyard/v1/projects/{project}/scalars:query", "ml.jobs.get",
               "trainyard.v1.Jobs.QueryScalars", kDataRead),
     kOutside, kBare, kCall<QueryScalars>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries", "ml.jobs.get",
         "trainyard.v1.Jobs.ListSummaries", kDataRead),
     kOutside, kBare, kCall<ListSummaries>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/summaries:read", "ml.jobs.get",
         "trainyard.v1.Jobs.ReadSummary", kDataRead),
     kOutside, kBare, kCall<ReadSummary>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/tuning:explain", "ml.jobs.get",
         "trainyard.v1.Jobs.ExplainTuning", kDataRead),
     kOutside, kBare, kCall<ExplainJobTuning>},
    {Ask(kProject, "GET /trainyard/v1/projects/{project}/locations/{location}/studies/{study}/tuning:explain",
         "ml.studies.get", "trainyard.v1.Studies.ExplainTuning", kDataRead),
     kOutside, kBare, kCall<ExplainStudyTuning>},
    {Ask(kJob, "DELETE /trainyard/v1/projects/{project}/jobs/{job}", "trainyard.jobs.delete",
         "trainyard.v1.Jobs.Delete", kAdminActivity),
     kOutside, kBare, kCall<DeleteJob>},
    {Ask(kJob, "POST /trainyard/v1/projects/{project}/jobs/{job}:maintain", "trainyard.jobs.maintain",
         "trainyard.v1.Jobs.Maintain", kAdminActivity),
     kOutside, kBare, kCall<MaintainJob>},
    {Ask(kJob, "POST /trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shellTicket",
         "trainyard.jobs.shell", "trainyard.v1.Jobs.CreateShellTicket", kAdminActivity),
     kOutside, kBare, kCall<GiveShellTicket>},
    {Ask(kJob, "GET /trainyard/v1/projects/{project}/jobs/{job}/replicas/{task}:shell",
         "trainyard.jobs.shell", "trainyard.v1.Jobs.OpenShell", kAdminActivity),
     kOutside, kBare, kCall<OpenShell>},
    // The ticket is the credential: it opens one shell, for the caller that got it a moment ago.
    {Public("GET /trainyard/v1/shells/{ticket}"), kOutside, kBare, kCall<OpenShellByTicket>},
    {LoggedIn("GET /trainyard/v1/runtimes", "trainyard.v1.Runtimes.List"), kOutside, kBare,
     kCall<ListRuntimes>},
    // Names of buckets and images are only shown to callers with trainyard.server.get.
    {LoggedIn("GET /trainyard/v1/machine", "trainyard.v1.Machine.Get"), kOutside, kBare, kCall<GetMachine>},
    {LoggedIn("GET /trainyard/v1/machine/usage", "trainyard.v1.Machine.GetUsage"), kOutside, kBare,
     kCall<GetMachineUsage>},
    {LoggedIn("GET /trainyard/v1/images", "trainyard.v1.Images.List"), kOutside, kBare, kCall<ListImages>},
    // It shows the projects on which the caller has the permission.
    {InHandler("GET /trainyard/v1/usage", "trainyard.usage.get", "trainyard.v1.Usage.Get", kDataRead),
     kOutside, kBare, kCall<GetUsage>},
    {Ask(kInstallation, "GET /trainyard/v1/admin/status", "trainyard.server.get",
         "trainyard.v1.Server.GetStatus", kDataRead),
     kOutside, kBare, kCall<ShowServerStatus>},
    {Ask(kInstallation, "POST /trainyard/v1/admin/drain", "trainyard.server.drain",
         "trainyard.v1.Server.Drain", kAdminActivity),
     kOutside, kBare, kCall<SetDrain>},
    {Ask(kInstallation, "POST /trainyard/v1/admin/backup", "trainyard.server.backup",
         "trainyard.v1.Server.StartBackup", kAdminActivity),
     kOutside, kBare, kCall<BeginBackup>},
    {Ask(kInstallation, "GET /trainyard/v1/admin/backup", "trainyard.server.backup",
         "trainyard.v1.Server.GetBackup", kDataRead),
     kOutside, kBare, kCall<ShowBackup>},
    {Ask(kInstallation, "POST /trainyard/v1/admin/reload", "trainyard.server.reload",
         "trainyard.v1.Server.Reload", kAdminActivity),
     kOutside, kBare, kCall<Reload>},
    {Ask(kInstallation, "GET /metrics", "trainyard.server.getMetrics", "trainyard.v1.Server.GetMetrics",
         kDataRead),
     kWatched, kBare, kCall<PrintMetrics>},
    {Public("GET /readyz"), kWatched, kBare, kCall<ShowReadiness>},
    // Supervisors send their attempt's own token, which policies do not cover.
    {Public("GET /replica/v1/attach"), Where::kSupervisors, kBare, kCall<Attach>},
};

}  // namespace

std::span<const Route> OwnRoutes() { return kOwnRoutes; }

}  // namespace trainyard::api
