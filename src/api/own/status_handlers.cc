#include "api/own/extension_handlers.h"

#include "api/ml/job_name_of.h"
#include "base/wire/json.h"
#include "trainyard/control/v1/status.pb.h"

namespace trainyard::api {

namespace {

boost::asio::awaitable<Result<http::Response>> Get(control::JobService& jobs, http::Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_TRY(control::v1::JobStatus status, co_await jobs.Describe(std::move(name)));
  co_return http::Response::Json(wire::PrintJson(status));
}

}  // namespace

void AddStatusRoutes(http::Router& router, control::JobService& jobs) {
  router.Add(http::Method::kGet, "/trainyard/v1/projects/{project}/jobs/{job}",
             [&jobs](http::Request& request) { return Get(jobs, request); });
}

}  // namespace trainyard::api
