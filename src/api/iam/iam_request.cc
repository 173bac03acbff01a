#include "api/iam/iam_request.h"

#include <memory>

#include "net/access/caller.h"
#include "rules/iam/policy_form.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using identity::Identities;

/// The version is in the query (gcloud) or in the body (the client libraries).
awaitable<Result<Response>> GetPolicy(Identities& identities, const ResourceOf& resource_of,
                                      Request& request) {
  TY_CO_TRY(int version,
            QueryNumber(request, "options.requestedPolicyVersion", "options.requested_policy_version"));
  if (request.method == http::Method::kPost) {
    TY_CO_TRY(const auto body, co_await ReadMessage<identity::v1::GetIamPolicyRequest>(request));
    if (body.has_options()) version = body.options().requested_policy_version();
  }
  TY_CO_TRY(const iam::Resource resource, resource_of(request));
  TY_CO_TRY(const iam::v1::Policy shown, iam::PolicyAtVersion(identities.Policy(resource), version));
  co_return Response::Json(wire::PrintJson(shown));
}

awaitable<Result<Response>> SetPolicy(Identities& identities, const ResourceOf& resource_of,
                                      Request& request) {
  TY_CO_TRY(auto body, co_await ReadMessage<iam::v1::SetIamPolicyRequest>(request));
  if (!body.has_policy()) co_return std::unexpected(InvalidArgument("policy", "A policy is required"));
  TY_CO_TRY(iam::Resource resource, resource_of(request));
  TY_CO_TRY(const iam::v1::Policy policy,
            co_await identities.SetPolicy(std::move(resource), std::move(body), StillMayOf(request)));
  co_return Response::Json(wire::PrintJson(policy));
}

/// What is unknown gives nothing. Not an error, so that the answer does not reveal what there is.
awaitable<Result<Response>> TestPermissions(Identities& identities, const ResourceOf& resource_of,
                                            Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<iam::v1::TestIamPermissionsRequest>(request));
  TY_CO_RETURN_IF_ERROR(iam::CheckPermissionNames(body));
  const std::string principal = access::PrincipalOf(request);
  const Result<iam::Resource> resource = resource_of(request);
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
  // By its number, too: what the caller may is looked up for the account's own project, whatever the path
  // says.
  const bool is_its = project == "-" || project == account.project_id() ||
                      project == std::to_string(identities.NumberOf(account.project_id()));
  if (!is_its) return std::unexpected(NotFound("Unknown service account: " + name));
  return account;
}

void AddPolicyMethods(http::Router& router, const std::string& path, PolicyOwner owner,
                      Identities& identities, ResourceOf resource_of) {
  using http::Method;
  const bool of_account = owner == PolicyOwner::kServiceAccount;
  const auto of = std::make_shared<const ResourceOf>(std::move(resource_of));  // one for four routes
  const MethodForm get{.answer = iam::v1::Policy::descriptor(),
                       .parameters = {"options.requestedPolicyVersion"},
                       .any_project = of_account};
  const MethodForm set{.answer = iam::v1::Policy::descriptor(), .parameters = {}, .any_project = of_account};
  const MethodForm test{.answer = iam::v1::TestIamPermissionsResponse::descriptor(),
                        .parameters = {},
                        .any_project = of_account};
  const http::Handler getter = WithSystemParameters(
      get, [&identities, of](Request& request) { return GetPolicy(identities, *of, request); });
  if (of_account) router.Add(Method::kGet, path + ":getIamPolicy", getter);
  router.Add(Method::kPost, path + ":getIamPolicy", getter);
  router.Add(Method::kPost, path + ":setIamPolicy",
             WithSystemParameters(
                 set, [&identities, of](Request& request) { return SetPolicy(identities, *of, request); }));
  router.Add(Method::kPost, path + ":testIamPermissions",
             WithSystemParameters(test, [&identities, of](Request& request) {
               return TestPermissions(identities, *of, request);
             }));
}

}  // namespace trainyard::api
