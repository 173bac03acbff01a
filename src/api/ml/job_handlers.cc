#include "api/ml/ml_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <utility>

#include "api/ml/job_request.h"
#include "api/system_parameters.h"
#include "base/wire/json.h"
#include "control/job_service.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobService;
using http::Request;
using http::Response;

constexpr std::size_t kJobBytesMax = 1 << 20;

Result<JobService::ListQuery> QueryOf(const Request& request) {
  TY_TRY(int page_size, QueryNumber(request, "pageSize", "page_size"));
  return JobService::ListQuery{.project = request.Parameter("project"),
                               .page_size = page_size,
                               .page_token = std::string(request.Query("pageToken")),
                               .filter = std::string(request.Query("filter"))};
}

void Show(const WebAccess& web, ml::v1::Job& job) {
  if (!web.is_shown && job.has_training_output()) job.mutable_training_output()->clear_web_access_uris();
}

}  // namespace

awaitable<Result<Response>> CreateJob(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  ml::v1::Job job;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, job, "job"));
  control::Creator creator = CreatorOf(request);
  TY_CO_TRY(ml::v1::Job created,
            co_await jobs.Create(request.Parameter("project"), std::move(job), std::move(creator)));
  co_return Response::Json(wire::PrintJson(created));
}

awaitable<Result<Response>> GetJob(JobService& jobs, const WebAccess& web, Request& request) {
  TY_CO_TRY(ml::v1::Job job, co_await jobs.Get(JobNameOf(request)));
  Show(web, job);
  co_return Response::Json(wire::PrintJson(job));
}

awaitable<Result<Response>> ListJobs(JobService& jobs, const WebAccess& web, Request& request) {
  TY_CO_TRY(JobService::ListQuery query, QueryOf(request));
  TY_CO_TRY(ml::v1::ListJobsResponse page, co_await jobs.List(std::move(query)));
  for (ml::v1::Job& job : *page.mutable_jobs()) Show(web, job);
  co_return Response::Json(wire::PrintJson(page));
}

awaitable<Result<Response>> PatchJob(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  ml::v1::Job patch;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, patch, "job"));
  std::string mask(request.Query("updateMask"));
  TY_CO_TRY(ml::v1::Job job, co_await jobs.Patch(JobNameOf(request), std::move(patch), std::move(mask)));
  co_return Response::Json(wire::PrintJson(job));
}

awaitable<Result<Response>> CancelJob(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  ml::v1::CancelJobRequest body;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, body));
  TY_CO_RETURN_IF_ERROR(co_await jobs.Cancel(JobNameOf(request)));
  co_return Response::Json("{}\n");
}

}  // namespace trainyard::api
