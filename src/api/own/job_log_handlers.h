#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>

#include "base/wire/resource_name.h"
#include "control/job_service.h"
#include "net/http/router.h"
#include "stores/logs/log_lines.h"

namespace trainyard::api {

/// Jobs and their lines. Both outlive the router.
struct JobLogSources {
  /// The job's uid in the log store. kNotFound: there is no such job.
  std::function<boost::asio::awaitable<Result<std::int64_t>>(wire::JobName name)> uid_of;
  logs::LogLines& lines;
};

/// Those of a server. Both outlive what is returned.
[[nodiscard]] JobLogSources LogsOf(control::JobService& jobs, logs::LogLines& lines);

/// GET log:read, log:search, log:summarize and log:download below /trainyard/v1/projects/P/jobs/J
/// (control/v1/log_window.proto): a job's log by the numbers of its lines. A job without lines has an empty
/// one. They ask what entries:list asks (log_rights.h). A download is sent while it is read, whole, up to the
/// last line that there was at its beginning. Loop thread.
void AddJobLogRoutes(http::Router& router, JobLogSources sources);

}  // namespace trainyard::api
