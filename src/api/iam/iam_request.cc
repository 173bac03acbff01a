#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"

#include <memory>

#include "net/access/caller.h"
#include "rules/iam/policy_form.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using identity::Identities;

using ResourceOf = Result<iam::Resource> (*)(Identities& identities, const Request& request);

Result<iam::Resource> ProjectOf(Identities&, const Request& request) {
  return iam::Resource::Project(request.Parameter("project"));
}

Result<iam::Resource> AccountResourceOf(Identities& identities, const Request& request) {
  TY_TRY(const identity::v1::ServiceAccount found, AccountOf(identities, request));
  return iam::Resource::ServiceAccount(found.project_id(), found.email());
}

/// The version is in the query (gcloud) or in the body (the client libraries).
awaitable<Result<Response>> GetPolicy(Identities& identities, ResourceOf resource_of, Request& request) {
  TY_CO_TRY(int version,
            QueryNumber(request, "options.requestedPolicyVersion", "options.requested_policy_version"));
  if (request.method == http::Method::kPost) {
    TY_CO_TRY(const auto body, co_await ReadMessage<identity::v1::GetIamPolicyRequest>(request));
    if (body.has_options()) version = body.options().requested_policy_version();
  }
  TY_CO_TRY(const iam::Resource resource, resource_of(identities, request));
  TY_CO_TRY(const iam::v1::Policy shown, iam::PolicyAtVersion(identities.Policy(resource), version));
  co_return Response::Json(wire::PrintJson(shown));
}

awaitable<Result<Response>> SetPolicy(Identities& identities, ResourceOf resource_of, Request& request) {
  TY_CO_TRY(auto body, co_await ReadMessage<iam::v1::SetIamPolicyRequest>(request));
  if (!body.has_policy()) co_return std::unexpected(InvalidArgument("policy", "A policy is required"));
  TY_CO_TRY(iam::Resource resource, resource_of(identities, request));
  co_return Answer(co_await identities.SetPolicy(std::move(resource), std::move(body), StillMayOf(request)));
}

/// Unknown permissions or resources return nothing. Not an error, so that the answer does not reveal what
/// exists.
awaitable<Result<Response>> TestPermissions(Identities& identities, ResourceOf resource_of,
                                            Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<iam::v1::TestIamPermissionsRequest>(request));
  TY_CO_RETURN_IF_ERROR(iam::CheckPermissionNames(body));
  const std::string principal = access::PrincipalOf(request);
  const Result<iam::Resource> resource = resource_of(identities, request);
  iam::v1::TestIamPermissionsResponse answer;
  for (const std::string& permission : body.permissions()) {
    if (resource && (principal.empty() || identities.Grants(principal, permission, *resource)))
      answer.add_permissions(permission);
  }
  co_return Response::Json(wire::PrintJson(answer));
}

}  // namespace

identity::StillMay StillMayOf(const Request& request) {
  if (request.caller == nullptr) return {};
  return [caller = request.caller] { return caller->StillMay(); };
}

Result<identity::v1::ServiceAccount> AccountOf(Identities& identities, const Request& request) {
  const std::string& name = request.Parameter("account");
  const std::string& project = request.Parameter("project");
  TY_TRY(identity::v1::ServiceAccount account, identities.FindServiceAccount(name));
  // The project may also be given by its number: the caller's rights are checked on the account's own
  // project, whatever the path says.
  const bool is_its = project == "-" || project == account.project_id() ||
                      project == std::to_string(identities.NumberOf(account.project_id()));
  if (!is_its) return std::unexpected(NotFound("Unknown service account: " + name));
  return account;
}

awaitable<Result<Response>> GetAccountPolicy(Identities& identities, Request& request) {
  return GetPolicy(identities, AccountResourceOf, request);
}

awaitable<Result<Response>> SetAccountPolicy(Identities& identities, Request& request) {
  return SetPolicy(identities, AccountResourceOf, request);
}

awaitable<Result<Response>> TestAccountPermissions(Identities& identities, Request& request) {
  return TestPermissions(identities, AccountResourceOf, request);
}

awaitable<Result<Response>> GetProjectPolicy(Identities& identities, Request& request) {
  return GetPolicy(identities, ProjectOf, request);
}

awaitable<Result<Response>> SetProjectPolicy(Identities& identities, Request& request) {
  return SetPolicy(identities, ProjectOf, request);
}

awaitable<Result<Response>> TestProjectPermissions(Identities& identities, Request& request) {
  return TestPermissions(identities, ProjectOf, request);
}

}  // namespace trainyard::api
