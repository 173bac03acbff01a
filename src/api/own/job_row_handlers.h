#pragma once

#include <chrono>

#include "api/ml/ml_methods.h"
#include "control/job_service.h"
#include "net/http/router.h"

/// Jobs as tables and pages show them: extension resources (control/v1/job_rows.proto, timeline.proto,
/// job_check.proto). Loop thread only.
namespace trainyard::api {

/// GET /trainyard/v1/projects/P/jobs: JobRows; query `filter`, `pageSize`, `pageToken` as in jobs.list.
/// GET .../jobs:summarize: JobSummary; query `filter`. GET .../jobs/J/events: JobTimeline; query `afterSeq`,
/// `trial`. `jobs` outlives the router.
void AddJobRowRoutes(http::Router& router, control::JobService& jobs);

struct WatchTimes {
  /// A comment is sent after this much silence, so that no proxy closes the connection.
  std::chrono::milliseconds heartbeat = std::chrono::seconds(15);
};

/// GET /trainyard/v1/projects/P/jobs:watch: server-sent events. Each one's data is a JobChanges, its id the
/// resume token; query `filter`, `resumeToken` (or the field Last-Event-ID), `logsOf` (repeated). 410: the
/// token is of a time that this server does not remember; list the jobs again. It ends as entries:tail does.
/// `jobs` outlives the router. Source: HTML standard, "Server-sent events".
void AddJobWatchRoute(http::Router& router, control::JobService& jobs, WatchTimes times = {});

/// POST /trainyard/v1/projects/P/jobs:validate: a Job as jobs.create takes it, or as YAML (Content-Type
/// application/yaml); the answer is a JobCheck. It counts as a request of the ml API: looking at a job looks
/// things up. `jobs` outlives the router.
void AddJobCheckRoute(MlMethods& ml, control::JobService& jobs);

}  // namespace trainyard::api
