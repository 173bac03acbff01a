#include "api/ml/job_name_of.h"
#include "api/own/extension_handlers.h"

namespace trainyard::api {

namespace {

boost::asio::awaitable<Result<http::Response>> Delete(control::JobService& jobs, http::Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_RETURN_IF_ERROR(co_await jobs.removal().Delete(std::move(name)));
  co_return http::Response::Json("{}");
}

}  // namespace

void AddJobRemovalRoute(http::Router& router, control::JobService& jobs) {
  router.Add(http::Method::kDelete, "/trainyard/v1/projects/{project}/jobs/{job}",
             [&jobs](http::Request& request) { return Delete(jobs, request); });
}

}  // namespace trainyard::api
