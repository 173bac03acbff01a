#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/route.h"
#include "base/result.h"
#include "base/wire/resource_name.h"
#include "control/notices/notifier.h"
#include "engine/local/local_engine.h"
#include "engine/local/machine_limits.h"
#include "trainyard/control/v1/admin.pb.h"
#include "trainyard/control/v1/machine.pb.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/control/v1/runtimes.pb.h"
#include "trainyard/control/v1/usage.pb.h"

namespace trainyard {
class Clock;
class LoopWatch;
}  // namespace trainyard

namespace trainyard::control {
class JobService;
}  // namespace trainyard::control

namespace trainyard::curves {
class JobCurves;
}  // namespace trainyard::curves

namespace trainyard::http {
class ConnectionBudget;
struct RequestCounts;
}  // namespace trainyard::http

namespace trainyard::logs {
class LogLines;
}  // namespace trainyard::logs

namespace trainyard::metrics {
class UsageHistory;
}  // namespace trainyard::metrics

namespace trainyard::studies {
class StudyService;
}  // namespace trainyard::studies

/// Routes of the administration's port in addition to Google's APIs (OwnRoutes): extension resources below
/// /trainyard/v1 (proto/trainyard/control/v1), and monitoring of the server. Loop thread only.
namespace trainyard::api {

/// JobStatus; JobRemoval::Delete, whose answer is an empty object; TuningInsight. maintain:
/// {"replica": "worker-replica-0"}, JobService::Maintain. validate: a Job as jobs.create takes it, or as YAML
/// (Content-Type application/yaml).
Waits<control::JobService> GetJobStatus, DeleteJob, MaintainJob, ValidateJob, ExplainJobTuning;
Waits<control::JobService, studies::StudyService> ExplainStudyTuning;

/// The metrics that jobs' programs measured (control/v1/curves.proto). QueryScalars treats a job that the
/// caller may not see as one that does not exist (docs/adr/0053).
Waits<curves::JobCurves> ListScalars, ListSummaries, QueryScalars, ReadSummary;

/// Jobs for tables and pages. `jobs` outlives it.
struct JobTablesPrinter {
  control::JobService& jobs;
  boost::asio::thread_pool printer{1};
};
Waits<JobTablesPrinter> ListJobRows, SummarizeJobs, GetJobTimeline;

/// The source of jobs:watch: server-sent events. Each one's data is a JobChanges, its id the resume token;
/// query `filter`, `resumeToken` (or the field Last-Event-ID), `logsOf` (repeated). 410: the token is older
/// than this server's history; list the jobs again. It ends as entries:tail does. Source: HTML standard,
/// "Server-sent events".
struct JobWatchSource {
  control::JobService& jobs;  ///< outlives it
  /// A comment is sent after this much silence, so that no proxy closes the connection.
  std::chrono::milliseconds heartbeat = std::chrono::seconds(15);
  /// Shared with the streams, which may outlive the routes.
  std::shared_ptr<boost::asio::thread_pool> printer = std::make_shared<boost::asio::thread_pool>(1);
};
Waits<JobWatchSource> WatchJobs;

/// Jobs and their lines (control/v1/log_window.proto): a job's log by line numbers. A job without lines has
/// an empty one. The functions require the rights of entries:list (RequireLogs). A download is sent while it
/// is being read, whole, up to the line that was last when it began.
struct JobLogs : std::enable_shared_from_this<JobLogs> {
  /// The job's uid in the log store. kNotFound: there is no such job.
  using UidOf = std::function<boost::asio::awaitable<Result<std::int64_t>>(wire::JobName name)>;
  JobLogs(UidOf uid, logs::LogLines& kept) : uid_of(std::move(uid)), lines(kept) {}

  UidOf uid_of;
  logs::LogLines& lines;
  boost::asio::thread_pool printers{1};
};
/// The functions for a server's jobs and logs. Both outlive what is returned.
[[nodiscard]] std::shared_ptr<JobLogs> LogsOf(control::JobService& jobs, logs::LogLines& lines);
Waits<JobLogs> ReadJobLog, SearchJobLog, SummarizeJobLog, DownloadJobLog;

/// The replicas' shells: the target of trainingOutput.webAccessUris. A WebSocket
/// (src/replica/shell/session.h); a browser is redirected to the page that opens it, any other plain GET is
/// answered with instructions. Query parameters: token, rows, columns. If callers have to log in, a request
/// for a ticket returns a URI below /trainyard/v1/shells that opens the shell once, for browsers.
struct Shells;
/// Both outlive it.
[[nodiscard]] std::shared_ptr<Shells> ShellsOf(control::JobService& jobs, const Clock& clock);
Waits<control::JobService> OpenShell;
Waits<Shells> GiveShellTicket, OpenShellByTicket;

/// The source of the list of runtime versions. `list` blocks and is called on `pool`, which outlives the
/// router.
struct RuntimeSource {
  std::function<control::v1::RuntimeList()> list;
  boost::asio::thread_pool& pool;
  std::function<void(control::v1::RuntimeList& list)> add_warm;  ///< called by the loop
};
Waits<const RuntimeSource> ListRuntimes;

/// The source of what the tools printed that installed a job's packages, as text. `read` blocks and is called
/// on `pool`; `jobs` and `pool` outlive the router.
struct PreparationSource {
  control::JobService& jobs;
  std::function<std::string(const control::v1::JobRecord& job)> read;
  boost::asio::thread_pool& pool;
};
/// kNotFound: there is no such job, or nothing was installed for it on this machine.
Waits<const PreparationSource> GetPreparation;

/// The sources of data about the machine. `images` blocks and is called on `pool`; all outlive the router.
struct MachineSource {
  std::function<boost::asio::awaitable<control::v1::MachineReport>()> report;
  std::function<boost::asio::awaitable<Result<control::v1::MachineHistory>>(std::chrono::hours)> history;
  std::function<control::v1::ImageList()> images;
  boost::asio::thread_pool& pool;
};
/// How far back the machine's use is stored.
inline constexpr int kHoursMax = 42 * 24;
inline constexpr int kHoursDefault = 24;
/// For everybody who has logged in. Names of buckets and of images, which others chose, are only shown to
/// callers with trainyard.server.get on the installation.
Waits<const MachineSource> GetMachine, GetMachineUsage, ListImages;

/// The sources of the usage report.
struct UsageSource {
  control::JobService& jobs;  ///< outlives the router
  /// Adds the time, the machine, and what projects used and stored, to a report that has the jobs.
  std::function<void(control::v1::UsageReport& report)> add_machine;
};
/// The report for all projects; if callers have to log in, only for those on which the caller has
/// trainyard.usage.get.
Waits<const UsageSource> GetUsage;

/// The sources of the metrics. All outlive the router.
struct MetricsSources {
  control::JobService& jobs;
  metrics::UsageHistory& usage;
  const http::RequestCounts& requests;
  const http::ConnectionBudget& connections;
  const LoopWatch& loop;
  /// The limits that this machine can set for replicas, as known now.
  std::function<engine::MachineLimits()> limits;
  std::function<engine::LocalEngine::MachineUse()> use;
  /// Null: the operator named no destination of notices.
  std::function<control::Notifier::Counts()> notices{};
  bool names_jobs = true;  ///< also print families with names of jobs
};
/// The metrics in Prometheus' text format.
Answers<const MetricsSources> PrintMetrics;
/// As Cloud Monitoring's timeSeries.list: query `metric` (one of metrics::Metrics(); all if absent),
/// `replica` (a task name), `startTime` and `endTime` (RFC 3339), `maxPoints` (for each series: thinned, from
/// all samples).
Waits<const MetricsSources> ListSeries;

/// The operations that an operator can request from a running server.
class Administration {
 public:
  virtual ~Administration() = default;

  [[nodiscard]] virtual boost::asio::awaitable<control::v1::AdminStatus> Status() = 0;
  /// Durable when it returns. `by`: the caller.
  [[nodiscard]] virtual boost::asio::awaitable<Result<control::v1::Drain>> SetDrain(bool on,
                                                                                    std::string by) = 0;
  /// Whether the request comes through the server's own socket, from root or the server's account, and not
  /// from a program of a job.
  [[nodiscard]] virtual boost::asio::awaitable<bool> IsFromMachine(const http::Request& request) const = 0;
  /// Begins a backup and returns. kAborted: one is under way; kFailedPrecondition, kInvalidArgument: only a
  /// caller on the machine may choose any directory (backup::AllowedPlace). Other errors, of the request too,
  /// are in the backup's own state.
  [[nodiscard]] virtual Result<control::v1::Backup> BeginBackup(control::v1::BackupRequest request,
                                                                bool from_machine) = 0;
  [[nodiscard]] virtual control::v1::Backup LastBackup() const = 0;
  /// Reloads everything that can be reloaded while the server runs. kFailedPrecondition: what could not be,
  /// and why; the rest was reloaded.
  [[nodiscard]] virtual boost::asio::awaitable<Result<control::v1::Reload>> Reload() = 0;
  [[nodiscard]] virtual boost::asio::awaitable<control::v1::Readiness> CheckReady() = 0;
  /// The name of the caller, for the record and for others to read.
  [[nodiscard]] virtual std::string WhoAsks(const http::Request& request) const = 0;
};

/// Source: docs/operators.md. ShowReadiness: 200 if the server can take jobs, otherwise 503; a Readiness in
/// both cases.
Waits<Administration> ShowServerStatus, SetDrain, BeginBackup, Reload, ShowReadiness;
Answers<Administration> ShowBackup;

/// The connections of supervisors.
struct Supervisors {
  http::Handler attach;
};
Waits<const Supervisors> Attach;

}  // namespace trainyard::api
