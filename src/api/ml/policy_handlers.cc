#include "api/ml/ml_handlers.h"

#include <algorithm>

#include "api/ml/job_request.h"
#include "api/system_parameters.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "net/access/caller.h"
#include "rules/iam/policy_form.h"
#include "rules/iam/resource.h"
#include "rules/iam/roles.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobService;
using http::Request;
using http::Response;

constexpr std::size_t kPolicyBytesMax = 256 << 10;  // "a few 10s of KB" in Google's service

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
  TY_CO_TRY(iam::v1::Policy shown, iam::PolicyAtVersion(std::move(policy), version));
  co_return Response::Json(wire::PrintJson(shown));
}

awaitable<Result<Response>> SetJobPolicy(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kPolicyBytesMax));
  iam::v1::SetIamPolicyRequest body;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, body));
  if (!body.has_policy()) co_return std::unexpected(InvalidArgument("policy", "A policy is required"));
  TY_CO_TRY(iam::v1::Policy policy,
            co_await jobs.SetPolicy(JobNameOf(request), std::move(body), CreatorOf(request)));
  co_return Response::Json(wire::PrintJson(policy));
}

/// An unknown job has no permissions. Not an error, so that the answer does not reveal which jobs exist.
awaitable<Result<Response>> TestJobPermissions(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kPolicyBytesMax));
  iam::v1::TestIamPermissionsRequest body;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, body));
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

}  // namespace trainyard::api
