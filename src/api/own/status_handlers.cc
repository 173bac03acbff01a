#include "api/own/own_handlers.h"

#include "api/ml/job_name_of.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "trainyard/control/v1/status.pb.h"

namespace trainyard::api {

namespace {}  // namespace

boost::asio::awaitable<Result<http::Response>> GetJobStatus(control::JobService& jobs,
                                                            http::Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_TRY(control::v1::JobStatus status, co_await jobs.Describe(std::move(name)));
  co_return http::Response::Json(wire::PrintJson(status));
}

}  // namespace trainyard::api
