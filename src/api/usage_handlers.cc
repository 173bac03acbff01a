#include "api/usage_handlers.h"

#include <utility>

#include "control/usage_report.h"
#include "wire/json.h"

namespace trainyard::api {

namespace {

boost::asio::awaitable<Result<http::Response>> Get(const UsageSource& source) {
  control::v1::UsageReport report;
  control::AddJobs(source.jobs.registry(), report);
  source.add_machine(report);
  control::CompleteReport(report);
  co_return http::Response::Json(wire::PrintJson(report));
}

}  // namespace

void AddUsageRoutes(http::Router& router, UsageSource source) {
  router.Add(http::Method::kGet, "/trainyard/v1/usage",
             [source = std::move(source)](http::Request&) { return Get(source); });
}

}  // namespace trainyard::api
