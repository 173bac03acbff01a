#include "api/ml/job_name_of.h"
#include "api/own/own_handlers.h"
#include "control/job_service.h"

namespace trainyard::api {

namespace {}  // namespace

boost::asio::awaitable<Result<http::Response>> DeleteJob(control::JobService& jobs, http::Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_RETURN_IF_ERROR(co_await jobs.removal().Delete(std::move(name)));
  co_return http::Response::Json("{}");
}

}  // namespace trainyard::api
