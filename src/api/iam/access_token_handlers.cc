#include <algorithm>
#include <chrono>
#include <iterator>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "api/iam/token_handlers.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/wire/time.h"
#include "base/wire/utf8.h"
#include "net/access/caller.h"
#include "rules/iam/principal.h"
#include "rules/iam/roles.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {

namespace {

using iam::Resource;
using identity::Identities;
using std::chrono::seconds;

constexpr int kProjectsMax = 100;  // per request
constexpr int kRolesMax = 20;

std::unexpected<Error> Invalid(std::string_view field, std::string why) {
  return std::unexpected(InvalidArgument(field, std::move(why)));
}

/// "3600s".
Result<std::optional<seconds>> LifeOf(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto number = WholeNumber<std::int64_t>(text.substr(0, text.size() - 1));
  if (number && text.ends_with('s')) return seconds(*number);
  return Invalid("lifetime", "The lifetime must be in whole seconds, such as 28800s");
}

constexpr seconds kLifeMax{3'600};  // Source: iamcredentials v1, generateAccessToken

Result<seconds> LifeOf(const identity::v1::GenerateAccessTokenRequest& wanted) {
  if (!wanted.has_lifetime()) return kLifeMax;
  const auto life = std::chrono::floor<seconds>(wire::FromProto(wanted.lifetime()));
  if (life >= seconds(1) && life <= kLifeMax) return life;
  return Invalid("lifetime", "The lifetime must be from 1s to 3600s");
}

/// Not longer than the credential that was used, so that an expiring token cannot renew itself.
seconds LifeWithin(seconds life, const iam::Login& login, const Clock& clock) {
  if (!login.expires) return life;
  return std::clamp(std::chrono::floor<seconds>(*login.expires - clock.Now()), seconds(1), life);
}

Status CheckDelegates(const google::protobuf::RepeatedPtrField<std::string>& delegates) {
  if (delegates.empty()) return {};
  return Invalid("delegates",
                 "Delegates are not supported. Grant the caller "
                 "roles/iam.serviceAccountTokenCreator on the account itself");
}

/// Whether the role can be bound on the installation: of projects' roles only those that each project has.
/// The server's metrics belong to the installation: programs that read them need monitoring.viewer there.
bool IsOfInstallation(std::string_view role) {
  constexpr std::string_view kAlso[] = {"roles/owner", "roles/editor", "roles/viewer",
                                        "roles/monitoring.viewer"};
  return role.starts_with("roles/trainyard.") || std::ranges::find(kAlso, role) != std::end(kAlso);
}

Status CheckRoles(const identity::v1::CreateTokenRequest& wanted) {
  if (wanted.roles_size() > kRolesMax || wanted.projects_size() > kProjectsMax)
    return Invalid("roles", "A request can name at most 20 roles and 100 projects");
  if (wanted.roles().empty() && !wanted.projects().empty())
    return Invalid("roles", "The request names projects but no role. Name the role to bind on them");
  for (const std::string& role : wanted.roles()) {
    if (iam::FindRole(role) == nullptr)
      return Invalid("roles",
                     "Role " + role + " does not exist. trainyard auth token create --help lists the roles");
    if (wanted.projects().empty() && !IsOfInstallation(role))
      return Invalid("projects", "Role " + role + " can only be bound on projects. Name the projects");
    if (!wanted.projects().empty() && role == iam::kInstallationAdmin)
      return Invalid("roles", "Role " + role + " can only be bound on the installation. Remove the projects");
  }
  return {};
}

std::vector<Resource> PlacesOf(const identity::v1::CreateTokenRequest& wanted) {
  std::vector<Resource> places;
  if (wanted.roles().empty()) return places;
  for (const std::string& project : wanted.projects()) places.push_back(Resource::Project(project));
  if (places.empty()) places.push_back(Resource::Installation());
  return places;
}

/// A caller who makes tokens can act as anybody, so this requires the installation's permission, whatever the
/// projects.
awaitable<Status> Permit(Request& request, const std::vector<Resource>& places) {
  TY_CO_RETURN_IF_ERROR(
      co_await access::Require(request, "trainyard.tokens.create", Resource::Installation()));
  for (const Resource& place : places) {
    TY_CO_RETURN_IF_ERROR(co_await access::Require(request, "resourcemanager.projects.setIamPolicy", place));
  }
  co_return Status{};
}

Error NoSuchToken(const std::string& id) {
  return NotFound("Token " + wire::ReplaceMalformed(id) + " does not exist.");
}

void AddRoles(const Identities& identities, const Resource& resource, identity::v1::WhoAmI& answer) {
  identity::v1::WhoAmI::Roles roles;
  roles.set_project(resource.project);
  for (const iam::v1::Binding& binding : identities.Policy(resource).bindings()) {
    for (const std::string& member : binding.members()) {
      if (member == answer.principal()) roles.add_roles(binding.role());
    }
  }
  if (!roles.roles().empty()) *answer.add_roles() = std::move(roles);
}

}  // namespace

awaitable<Result<Response>> CreateToken(Identities& identities, Request& request) {
  TY_CO_TRY(const auto wanted, co_await ReadMessage<identity::v1::CreateTokenRequest>(request));
  const std::vector<Resource> places = PlacesOf(wanted);
  TY_CO_RETURN_IF_ERROR(co_await Permit(request, places));
  TY_CO_TRY(const std::string principal, iam::ParsePrincipal(wanted.principal()));
  TY_CO_RETURN_IF_ERROR(CheckRoles(wanted));
  TY_CO_TRY(const std::optional<seconds> life, LifeOf(wanted.lifetime()));
  for (const Resource& place : places) {
    for (const std::string& role : wanted.roles())
      TY_CO_RETURN_IF_ERROR(co_await identities.AddBinding(place, role, principal, StillMayOf(request)));
  }
  Identities::NewToken token{.principal = principal,
                             .life = life,
                             .description = wanted.description(),
                             .issuer = access::PrincipalOf(request),
                             .still_may = StillMayOf(request)};
  TY_CO_TRY(Identities::IssuedToken made, co_await identities.MakeToken(std::move(token)));
  identity::v1::CreateTokenResponse answer;
  *answer.mutable_token() = std::move(made.token);
  answer.set_text(made.text);
  co_return SecretAnswer(answer);
}

/// The caller's own tokens; with the permission all, or those of `principal`.
awaitable<Result<Response>> ListTokens(Identities& identities, Request& request) {
  const std::string caller = access::PrincipalOf(request);
  std::string principal(request.Query("principal"));
  const bool is_own = !caller.empty() && principal == caller;
  const Status all =
      is_own ? Status{}
             : co_await access::Require(request, "trainyard.tokens.list", Resource::Installation());
  if (!all && !principal.empty()) co_return std::unexpected(all.error());
  if (!all) principal = caller;
  identity::v1::ListTokensResponse answer;
  for (identity::v1::Token& token : identities.Tokens(principal)) *answer.add_tokens() = std::move(token);
  co_return Response::Json(wire::PrintJson(answer));
}

/// Another principal's token that the caller may not revoke is reported as absent, so that ids reveal
/// nothing.
awaitable<Result<Response>> RevokeToken(Identities& identities, Request& request) {
  const std::string& id = request.Parameter("token");
  const std::string caller = access::PrincipalOf(request);
  const auto is_meant = [&id](const identity::v1::Token& token) { return token.id() == id; };
  const bool is_own = !caller.empty() && std::ranges::any_of(identities.Tokens(caller), is_meant);
  if (!is_own) {
    const Status any = co_await access::Require(request, "trainyard.tokens.revoke", Resource::Installation());
    if (!any) co_return std::unexpected(NoSuchToken(id));
  }
  co_return Answer(co_await identities.RevokeToken(id));
}

awaitable<Result<Response>> WhoAmI(Identities& identities, const TokenNames& names, Request& request) {
  identity::v1::WhoAmI answer;
  answer.set_principal(access::PrincipalOf(request));
  if (answer.principal().empty()) co_return Response::Json(wire::PrintJson(answer));
  const Result<identity::Login> login =
      co_await identities.Check(PresentedToken(request), names.own_audiences);
  if (login && login->principal == answer.principal()) {
    answer.set_token_id(login->token_id);
    if (login->expires) *answer.mutable_expire_time() = wire::ToProto(*login->expires);
  }
  AddRoles(identities, Resource::Installation(), answer);
  for (const std::string& project : identities.Projects())
    AddRoles(identities, Resource::Project(project), answer);
  co_return Response::Json(wire::PrintJson(answer));
}

awaitable<Result<Response>> GenerateAccessToken(Identities& identities, const Clock& clock,
                                                Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<identity::v1::GenerateAccessTokenRequest>(request));
  TY_CO_RETURN_IF_ERROR(CheckDelegates(body.delegates()));
  TY_CO_TRY(const seconds life, LifeOf(body));
  TY_CO_TRY(const identity::v1::ServiceAccount account, AccountOf(identities, request));
  Identities::NewToken wanted{.principal = iam::ServiceAccountPrincipal(account.email()),
                              .life = life,
                              .description = "generateAccessToken",
                              .issuer = access::PrincipalOf(request),
                              .still_may = StillMayOf(request)};
  if (request.caller != nullptr) {
    wanted.life = LifeWithin(life, request.caller->login(), clock);
    wanted.through = identity::IssuerOf(request.caller->login());
  }
  TY_CO_TRY(const Identities::IssuedToken made, co_await identities.MakeToken(std::move(wanted)));
  identity::v1::GenerateAccessTokenResponse answer;
  answer.set_access_token(made.text);
  *answer.mutable_expire_time() = made.token.expire_time();
  co_return SecretAnswer(answer);
}

awaitable<Result<Response>> GenerateIdToken(Identities& identities, const TokenNames& names,
                                            Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<identity::v1::GenerateIdTokenRequest>(request));
  TY_CO_RETURN_IF_ERROR(CheckDelegates(body.delegates()));
  TY_CO_TRY(const identity::v1::ServiceAccount account, AccountOf(identities, request));
  Identities::IdToken wanted{.email = account.email(),
                             .audience = body.audience(),
                             .include_email = body.include_email(),
                             .issuer = names.server,
                             .still_may = StillMayOf(request)};
  TY_CO_TRY(const std::string token, co_await identities.MakeIdToken(std::move(wanted)));
  identity::v1::GenerateIdTokenResponse answer;
  answer.set_token(token);
  co_return SecretAnswer(answer);
}

}  // namespace trainyard::api
