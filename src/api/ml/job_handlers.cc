#include "api/ml/ml_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <utility>

#include "api/creator_of.h"
#include "api/ml/job_name_of.h"
#include "api/system_parameters.h"
#include "base/wire/json.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobService;
using http::Request;
using http::Response;

constexpr std::size_t kJobBytesMax = 1 << 20;
constexpr std::string_view kJobs = "/v1/projects/{project}/jobs";
constexpr std::string_view kJob = "/v1/projects/{project}/jobs/{job}";

MethodForm JobForm() { return {.answer = ml::v1::Job::descriptor(), .parameters = {}}; }

MethodForm PageForm() {
  return {.answer = ml::v1::ListJobsResponse::descriptor(),
          .parameters = {"filter", "pageSize", "pageToken"}};
}

awaitable<Result<Response>> Create(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  ml::v1::Job job;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, job, "job"));
  control::Creator creator = CreatorOf(request);
  TY_CO_TRY(ml::v1::Job created,
            co_await jobs.Create(request.Parameter("project"), std::move(job), std::move(creator)));
  co_return Response::Json(wire::PrintJson(created));
}

awaitable<Result<Response>> Get(JobService& jobs, Request& request) {
  TY_CO_TRY(ml::v1::Job job, co_await jobs.Get(JobNameOf(request)));
  co_return Response::Json(wire::PrintJson(job));
}

Result<JobService::ListQuery> QueryOf(const Request& request) {
  TY_TRY(int page_size, QueryNumber(request, "pageSize", "page_size"));
  return JobService::ListQuery{.project = request.Parameter("project"),
                               .page_size = page_size,
                               .page_token = std::string(request.Query("pageToken")),
                               .filter = std::string(request.Query("filter"))};
}

awaitable<Result<Response>> List(JobService& jobs, Request& request) {
  TY_CO_TRY(JobService::ListQuery query, QueryOf(request));
  TY_CO_TRY(ml::v1::ListJobsResponse page, co_await jobs.List(std::move(query)));
  co_return Response::Json(wire::PrintJson(page));
}

awaitable<Result<Response>> Patch(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  ml::v1::Job patch;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, patch, "job"));
  std::string mask(request.Query("updateMask"));
  TY_CO_TRY(ml::v1::Job job, co_await jobs.Patch(JobNameOf(request), std::move(patch), std::move(mask)));
  co_return Response::Json(wire::PrintJson(job));
}

awaitable<Result<Response>> Cancel(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  ml::v1::CancelJobRequest body;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, body));
  TY_CO_RETURN_IF_ERROR(co_await jobs.Cancel(JobNameOf(request)));
  co_return Response::Json("{}\n");
}

awaitable<Result<Response>> GetInReplica(JobService& jobs, Request& request) {
  TY_CO_TRY(ml::v1::Job job, co_await jobs.Get(JobNameOf(request)));
  if (job.has_training_output()) job.mutable_training_output()->clear_web_access_uris();
  co_return Response::Json(wire::PrintJson(job));
}

awaitable<Result<Response>> ListInReplica(JobService& jobs, Request& request) {
  TY_CO_TRY(JobService::ListQuery query, QueryOf(request));
  TY_CO_TRY(ml::v1::ListJobsResponse page, co_await jobs.List(std::move(query)));
  for (ml::v1::Job& job : *page.mutable_jobs()) {
    if (job.has_training_output()) job.mutable_training_output()->clear_web_access_uris();
  }
  co_return Response::Json(wire::PrintJson(page));
}

}  // namespace

void AddJobRoutes(MlMethods& methods, JobService& jobs) {
  using http::Method;
  const MethodForm job = JobForm();
  const MethodForm page = PageForm();
  const MethodForm patch{.answer = ml::v1::Job::descriptor(), .parameters = {"updateMask"}};
  const MethodForm empty{.answer = google::protobuf::Empty::descriptor(), .parameters = {}};
  methods.Add(
      Method::kPost, kJobs, job, [&jobs](Request& request) { return Create(jobs, request); },
      control::RequestQuota::Kind::kCreate);
  methods.Add(Method::kGet, kJobs, page, [&jobs](Request& request) { return List(jobs, request); });
  methods.Add(Method::kGet, kJob, job, [&jobs](Request& request) { return Get(jobs, request); });
  methods.Add(Method::kPatch, kJob, patch, [&jobs](Request& request) { return Patch(jobs, request); });
  methods.Add(Method::kPost, "/v1/projects/{project}/jobs/{job}:cancel", empty,
              [&jobs](Request& request) { return Cancel(jobs, request); });
}

void AddJobRoutesOfReplicas(MlMethods& methods, JobService& jobs) {
  using http::Method;
  methods.Add(Method::kGet, kJobs, PageForm(),
              [&jobs](Request& request) { return ListInReplica(jobs, request); });
  methods.Add(Method::kGet, kJob, JobForm(),
              [&jobs](Request& request) { return GetInReplica(jobs, request); });
}

}  // namespace trainyard::api
