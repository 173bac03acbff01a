#include <utility>

#include "api/vertex/job_collections.h"
#include "api/vertex/request_path.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/model.h"

namespace trainyard::api {

namespace {

namespace aip = google::cloud::aiplatform::v1;
using control::JobService;
using control::v1::JobRecord;

}  // namespace

awaitable<Result<Response>> GetModel(JobService& jobs, Request& request) {
  const std::string& text = request.Parameter("number");
  const vertex::ModelId id = vertex::SplitModelId(text);
  TY_CO_TRY(const JobRecord record, co_await FindIn(kModels, jobs, request, id.number));
  const wire::JobName job{record.project(), record.job().job_id()};
  TY_CO_TRY(const ml::v1::Job now, co_await jobs.Get(job));
  const auto shown = kModels.show(record, now, LocationName(request));
  const auto* const model = dynamic_cast<const aip::Model*>(shown.get());
  if (model == nullptr || !vertex::HasVersion(*model, id.version))
    co_return std::unexpected(NotFound("Model does not exist: " + LocationName(request) + "/models/" + text));
  co_return Response::Json(wire::PrintJson(*model));
}

awaitable<Result<Response>> ListModels(JobService& jobs, Request& request) {
  const std::string_view order = request.Query("orderBy");
  if (!order.empty() && order != "create_time desc" && order != "createTime desc")
    co_return std::unexpected(
        InvalidArgument("order_by", "Models are listed newest first: 'create_time desc' is the only order"));
  co_return co_await ListIn(kModels, jobs, request);
}

}  // namespace trainyard::api
