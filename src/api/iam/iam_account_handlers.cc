#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <array>
#include <memory>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/wire/field_selector.h"
#include "base/wire/utf8.h"
#include "net/access/caller.h"
#include "rules/iam/policy_form.h"
#include "rules/iam/roles.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {

namespace {

using identity::Identities;
namespace v1 = identity::v1;
using identity::KeyFileServer;
using ResourceOf = Result<iam::Resource> (*)(Identities& identities, const Request& request);

constexpr std::array<std::string_view, 2> kUpdatable{"display_name", "description"};

awaitable<Result<Response>> Describe(Identities& identities, std::string email,
                                     const v1::ServiceAccount& wanted, const std::vector<std::string>& mask) {
  Identities::AccountTexts texts;
  const auto names = [&](std::string_view name) { return std::ranges::find(mask, name) != mask.end(); };
  if (names("display_name")) texts.display_name = wanted.display_name();
  if (names("description")) texts.description = wanted.description();
  co_return Answer(co_await identities.DescribeServiceAccount(std::move(email), std::move(texts)));
}

/// Disables or enables the key that the path names, or the account.
awaitable<Result<Response>> SetDisabled(Identities& identities, bool is_key, bool disabled,
                                        Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadRequest<google::protobuf::Empty>(request));
  if (!is_key)
    co_return Answer(
        co_await identities.SetServiceAccountDisabled(account.email(), disabled, StillMayOf(request)));
  co_return Answer(co_await identities.SetKeyDisabled(account.email(), request.Parameter("key"), disabled,
                                                      StillMayOf(request)));
}

}  // namespace

awaitable<Result<Response>> CreateAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<v1::CreateServiceAccountRequest>(request));
  co_return Answer(co_await identities.CreateServiceAccount(request.Parameter("project"), body.account_id(),
                                                            body.service_account().display_name(),
                                                            body.service_account().description()));
}

/// On one page: a project has at most a hundred.
Result<Response> ListAccounts(Identities& identities, Request& request) {
  v1::ListServiceAccountsResponse answer;
  for (v1::ServiceAccount& account : identities.ServiceAccounts(request.Parameter("project")))
    *answer.add_accounts() = std::move(account);
  return Response::Json(wire::PrintJson(answer));
}

Result<Response> GetAccount(Identities& identities, Request& request) {
  return Answer(AccountOf(identities, request));
}

awaitable<Result<Response>> DeleteAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  co_return Answer(co_await identities.DeleteServiceAccount(account.email()));
}

awaitable<Result<Response>> PatchAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::PatchServiceAccountRequest>(request));
  TY_CO_TRY(const std::vector<std::string> mask, wire::ParseFieldMask(body.update_mask(), kUpdatable));
  if (mask.empty())
    co_return std::unexpected(
        InvalidArgument("update_mask", "The mask must name display_name or description"));
  co_return co_await Describe(identities, account.email(), body.service_account(), mask);
}

/// The older method: takes the whole account, of which only the display name can be changed.
awaitable<Result<Response>> UpdateAccount(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto wanted, co_await ReadMessage<v1::ServiceAccount>(request));
  const std::vector<std::string> mask{"display_name"};
  co_return co_await Describe(identities, account.email(), wanted, mask);
}

awaitable<Result<Response>> DisableAccount(Identities& identities, Request& request) {
  return SetDisabled(identities, false, true, request);
}

awaitable<Result<Response>> EnableAccount(Identities& identities, Request& request) {
  return SetDisabled(identities, false, false, request);
}

namespace {

constexpr std::string_view kKeyFile = "TYPE_GOOGLE_CREDENTIALS_FILE";

std::string_view IdOf(const v1::ServiceAccountKey& key) {
  return std::string_view(key.name()).substr(key.name().rfind('/') + 1);
}

Status CheckKind(const v1::CreateServiceAccountKeyRequest& wanted) {
  const std::string& type = wanted.private_key_type();
  if (!type.empty() && type != "TYPE_UNSPECIFIED" && type != kKeyFile) {
    return std::unexpected(InvalidArgument(
        "private_key_type", "The private key type must be " + std::string(kKeyFile) + ", not " + type));
  }
  const std::string& algorithm = wanted.key_algorithm();
  if (!algorithm.empty() && algorithm != "KEY_ALG_UNSPECIFIED" && algorithm != "KEY_ALG_RSA_2048")
    return std::unexpected(
        InvalidArgument("key_algorithm", "The key algorithm must be KEY_ALG_RSA_2048, not " + algorithm));
  return {};
}

Result<v1::ServiceAccountKey> KeyOf(Identities& identities, const Request& request) {
  TY_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_TRY(const std::vector<v1::ServiceAccountKey> keys, identities.Keys(account.email()));
  for (const v1::ServiceAccountKey& key : keys) {
    if (IdOf(key) == request.Parameter("key")) return key;
  }
  return std::unexpected(NotFound("Service account key " + request.Parameter("key") + " of " +
                                  account.email() + " does not exist."));
}

}  // namespace

awaitable<Result<Response>> CreateKey(Identities& identities, const KeyFileServer& server, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  TY_CO_TRY(const auto body, co_await ReadRequest<v1::CreateServiceAccountKeyRequest>(request));
  TY_CO_RETURN_IF_ERROR(CheckKind(body));
  TY_CO_TRY(Identities::IssuedKey made, co_await identities.CreateKey(account.email(), StillMayOf(request)));
  made.key.set_private_key_data(
      identity::PrintKeyFile(account, IdOf(made.key), made.private_key_pem, server));
  made.key.set_private_key_type(std::string(kKeyFile));
  co_return SecretAnswer(made.key);
}

Result<Response> ListKeys(Identities& identities, Request& request) {
  TY_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  v1::ListServiceAccountKeysResponse answer;
  // keyTypes=SYSTEM_MANAGED asks only for keys that do not exist here.
  if (request.HasQuery("keyTypes") && request.Query("keyTypes") == "SYSTEM_MANAGED")
    return Response::Json(wire::PrintJson(answer));
  TY_TRY(std::vector<v1::ServiceAccountKey> keys, identities.Keys(account.email()));
  for (v1::ServiceAccountKey& key : keys) *answer.add_keys() = std::move(key);
  return Response::Json(wire::PrintJson(answer));
}

Result<Response> GetKey(Identities& identities, Request& request) {
  return Answer(KeyOf(identities, request));
}

awaitable<Result<Response>> DeleteKey(Identities& identities, Request& request) {
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  co_return Answer(co_await identities.DeleteKey(account.email(), request.Parameter("key")));
}

awaitable<Result<Response>> DisableKey(Identities& identities, Request& request) {
  return SetDisabled(identities, true, true, request);
}

awaitable<Result<Response>> EnableKey(Identities& identities, Request& request) {
  return SetDisabled(identities, true, false, request);
}

namespace {

constexpr char kStage[] = "GA";

v1::Role Shown(const iam::Role& role, bool with_permissions) {
  v1::Role shown;
  shown.set_name(std::string(role.name));
  shown.set_title(std::string(role.title));
  shown.set_description(std::string(role.description));
  shown.set_stage(kStage);
  if (!with_permissions) return shown;
  for (const std::string_view permission : role.permissions)
    shown.add_included_permissions(std::string(permission));
  return shown;
}

}  // namespace

/// On one page: there are some dozens.
Result<Response> ListRoles(Request& request) {
  v1::ListRolesResponse answer;
  for (const iam::Role& role : iam::Roles())
    *answer.add_roles() = Shown(role, request.Query("view") == "FULL");
  return Response::Json(wire::PrintJson(answer));
}

Result<Response> GetRole(Request& request) {
  const std::string name = "roles/" + request.Parameter("role");
  const iam::Role* role = iam::FindRole(name);
  if (role == nullptr)
    return std::unexpected(NotFound("The role named " + wire::ReplaceMalformed(name) + " was not found."));
  return Response::Json(wire::PrintJson(Shown(*role, true)));
}

/// The same for each resource: a role may be bound on its parents.
awaitable<Result<Response>> QueryTestablePermissions(Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<v1::QueryTestablePermissionsRequest>(request));
  if (body.full_resource_name().empty())
    co_return std::unexpected(InvalidArgument("full_resource_name", "The full resource name is required"));
  v1::QueryTestablePermissionsResponse answer;
  for (const std::string_view permission : iam::Permissions()) {
    v1::TestablePermission& one = *answer.add_permissions();
    one.set_name(std::string(permission));
    one.set_stage(kStage);
  }
  co_return Response::Json(wire::PrintJson(answer));
}

namespace {

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
    TY_CO_TRY(const auto body, co_await ReadRequest<identity::v1::GetIamPolicyRequest>(request));
    if (body.has_options()) version = body.options().requested_policy_version();
  }
  TY_CO_TRY(const iam::Resource resource, resource_of(identities, request));
  TY_CO_TRY(const iam::v1::Policy shown, iam::PolicyAtVersion(identities.Policy(resource), version));
  co_return Response::Json(wire::PrintJson(shown));
}

awaitable<Result<Response>> SetPolicy(Identities& identities, ResourceOf resource_of, Request& request) {
  TY_CO_TRY(auto body, co_await ReadRequest<iam::v1::SetIamPolicyRequest>(request));
  if (!body.has_policy()) co_return std::unexpected(InvalidArgument("policy", "A policy is required"));
  TY_CO_TRY(iam::Resource resource, resource_of(identities, request));
  co_return Answer(co_await identities.SetPolicy(std::move(resource), std::move(body), StillMayOf(request)));
}

/// Unknown permissions or resources return nothing. Not an error, so that the answer does not reveal what
/// exists.
awaitable<Result<Response>> TestPermissions(Identities& identities, ResourceOf resource_of,
                                            Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<iam::v1::TestIamPermissionsRequest>(request));
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
