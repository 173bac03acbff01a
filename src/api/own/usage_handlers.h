#pragma once

#include <functional>

#include "control/job_service.h"
#include "net/http/router.h"
#include "trainyard/control/v1/usage.pb.h"

namespace trainyard::api {

/// Who knows who uses what. Loop thread only.
struct UsageSource {
  control::JobService& jobs;  ///< outlives the router
  /// Adds the time, the machine, and what projects used and keep, to a report that has the jobs.
  std::function<void(control::v1::UsageReport& report)> add_machine;
};

/// GET /trainyard/v1/usage: the extension resource UsageReport (control/v1/usage.proto), of all
/// projects; where who asks has to log in, of those on which they have trainyard.usage.get.
void AddUsageRoutes(http::Router& router, UsageSource source);

}  // namespace trainyard::api
