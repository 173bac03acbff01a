#include "api/ml/ml_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <utility>

#include "api/messages.h"
#include "api/ml/job_request.h"
#include "api/system_parameters.h"
#include "base/ascii.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "net/access/caller.h"
#include "rules/iam/policy_form.h"
#include "rules/iam/resource.h"
#include "rules/iam/roles.h"

namespace trainyard::api {

namespace {

using control::JobService;

void Show(const WebAccess& web, ml::v1::Job& job) {
  if (!web.is_shown && job.has_training_output()) job.mutable_training_output()->clear_web_access_uris();
}

}  // namespace

Result<control::JobListQuery> ListQueryOf(const Request& request) {
  TY_TRY(int page_size, QueryNumber(request, "pageSize", "page_size"));
  return control::JobListQuery{.project = request.Parameter("project"),
                               .page_size = page_size,
                               .page_token = std::string(request.Query("pageToken")),
                               .filter = std::string(request.Query("filter"))};
}

awaitable<Result<Response>> CreateJob(JobService& jobs, Request& request) {
  TY_CO_TRY(auto job, co_await ReadMessage<ml::v1::Job>(request, kJobBytesMax, "job"));
  control::Creator creator = CreatorOf(request);
  co_return Answer(co_await jobs.Create(request.Parameter("project"), std::move(job), std::move(creator)));
}

awaitable<Result<Response>> GetJob(JobService& jobs, const WebAccess& web, Request& request) {
  TY_CO_TRY(ml::v1::Job job, co_await jobs.Get(JobNameOf(request)));
  Show(web, job);
  co_return Response::Json(wire::PrintJson(job));
}

awaitable<Result<Response>> ListJobs(JobService& jobs, const WebAccess& web, Request& request) {
  TY_CO_TRY(control::JobListQuery query, ListQueryOf(request));
  TY_CO_TRY(ml::v1::ListJobsResponse page, co_await jobs.List(std::move(query)));
  for (ml::v1::Job& job : *page.mutable_jobs()) Show(web, job);
  co_return Response::Json(wire::PrintJson(page));
}

awaitable<Result<Response>> PatchJob(JobService& jobs, Request& request) {
  TY_CO_TRY(auto patch, co_await ReadMessage<ml::v1::Job>(request, kJobBytesMax, "job"));
  std::string mask(request.Query("updateMask"));
  co_return Answer(co_await jobs.Patch(JobNameOf(request), std::move(patch), std::move(mask)));
}

awaitable<Result<Response>> CancelJob(JobService& jobs, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<ml::v1::CancelJobRequest>(request, kJobBytesMax));
  co_return Answer(co_await jobs.Cancel(JobNameOf(request)));
}

namespace {

/// The requested permissions that exist for jobs, without duplicates.
std::vector<std::string> PermissionsOfJobs(const iam::v1::TestIamPermissionsRequest& request) {
  std::vector<std::string> permissions;
  for (const std::string& permission : request.permissions()) {
    const bool is_new = std::ranges::find(permissions, permission) == permissions.end();
    if (is_new && iam::FindRole(iam::kJobOwner)->Has(permission)) permissions.push_back(permission);
  }
  return permissions;
}

}  // namespace

awaitable<Result<Response>> GetJobPolicy(JobService& jobs, Request& request) {
  TY_CO_TRY(int version,
            QueryNumber(request, "options.requestedPolicyVersion", "options.requested_policy_version"));
  TY_CO_TRY(iam::v1::Policy policy, co_await jobs.GetPolicy(JobNameOf(request)));
  co_return Answer(iam::PolicyAtVersion(std::move(policy), version));
}

awaitable<Result<Response>> SetJobPolicy(JobService& jobs, Request& request) {
  TY_CO_TRY(auto body, co_await ReadRequest<iam::v1::SetIamPolicyRequest>(request));
  if (!body.has_policy()) co_return std::unexpected(InvalidArgument("policy", "A policy is required"));
  co_return Answer(co_await jobs.SetPolicy(JobNameOf(request), std::move(body), CreatorOf(request)));
}

/// An unknown job has no permissions. Not an error, so that the answer does not reveal which jobs exist.
awaitable<Result<Response>> TestJobPermissions(JobService& jobs, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<iam::v1::TestIamPermissionsRequest>(request));
  TY_CO_RETURN_IF_ERROR(iam::CheckPermissionNames(body));
  iam::v1::TestIamPermissionsResponse answer;
  Result<ml::v1::Job> job = co_await jobs.Get(JobNameOf(request));
  if (!job && job.error().code != Code::kNotFound) co_return std::unexpected(job.error());
  for (std::string& permission : PermissionsOfJobs(body)) {
    iam::Resource resource = iam::Resource::Job(request.Parameter("project"), request.Parameter("job"));
    const Status has = co_await access::Require(request, permission, std::move(resource));
    if (job && has) answer.add_permissions(std::move(permission));
  }
  co_return Response::Json(wire::PrintJson(answer));
}

std::string SafeFileName(std::string_view text) {
  std::string name(text.substr(0, kFileNameBytesMax));
  for (char& c : name) {
    const char lower = ToLower(c);
    const bool is_word = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
    const bool stays = is_word || c == '.' || c == '-' || c == '_';
    if (!stays) c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(name.begin(), '_');
  name.resize(std::min(name.size(), kFileNameBytesMax));
  return name;
}

void SetAttachment(std::string_view content_type, std::string_view name, http::Headers& headers) {
  http::ConfineContent(headers);
  headers.Set("Content-Type", std::string(content_type));
  headers.Set("Content-Disposition", "attachment; filename=\"" + SafeFileName(name) + "\"");
}

}  // namespace trainyard::api
