#include "server/authority.h"

#include <array>
#include <utility>

#include "access/session_cookie.h"
#include "api/token_handlers.h"
#include "control/access_token.h"
#include "control/job_rights.h"
#include "control/keys.h"
#include "iam/principal.h"
#include "iam/refusal.h"

namespace trainyard::server {

using boost::asio::awaitable;
using Standing = access::Authority::Standing;

awaitable<Result<iam::Login>> IdentityAuthority::WhoAsks(const http::Request& request) {
  std::string token = api::BearerToken(request);
  if (token.empty() && sources_.has_sessions) {
    TY_CO_TRY(const std::string cookie, access::SessionToken(request));
    if (!cookie.empty()) co_return ByCookie(request, cookie);
  }
  if (token.empty()) co_return co_await ByConnection(request);
  if (control::LooksLikeAccessToken(token)) co_return co_await ByOwnToken(std::move(token), request);
  const std::array<std::string, 1> own{request.Origin()};
  Result<iam::Login> login = sources_.identities.Check(token, own);
  if (!login) co_return std::unexpected(iam::BadToken(login.error()));
  co_return login;
}

Result<iam::Login> IdentityAuthority::ByCookie(const http::Request& request, const std::string& token) const {
  const std::string_view shown = request.headers.Get(access::kConsoleField);
  if (!access::IsPlainRead(request) && !control::IsSame(shown, sources_.tokens.SessionSecret(token)))
    return std::unexpected(
        iam::BadToken("A session's cookie changes nothing by itself: the request lacks the session's secret "
                      "in the field " +
                      std::string(access::kConsoleField) + "."));
  Result<iam::Login> login = sources_.identities.CheckSession(token);
  if (!login) return std::unexpected(iam::BadToken(login.error()));
  return login;
}

/// Tokens of metadata servers: they prove themselves, and are worth what their owner is.
awaitable<Result<iam::Login>> IdentityAuthority::ByOwnToken(std::string token, const http::Request& request) {
  Result<std::string> owner = co_await sources_.tokens.OwnerOf(std::move(token));
  if (!owner) co_return std::unexpected(iam::BadToken(owner.error()));
  if (*owner == control::kAnyReplica) co_return co_await ByConnection(request);
  if (*owner == control::kAdministration)
    co_return iam::Login{.principal = std::string(iam::kAdministrator), .credential = "local account"};
  co_return co_await ByAttempt(*std::move(owner));
}

awaitable<Result<iam::Login>> IdentityAuthority::ByAttempt(std::string attempt_id) {
  const std::optional<control::Instance> instance = co_await sources_.jobs.InstanceOf(attempt_id);
  if (!instance) co_return std::unexpected(iam::BadToken("The attempt " + attempt_id + " has ended."));
  co_return iam::Login{.principal = iam::ServiceAccountPrincipal(instance->service_account),
                       .credential = "attempt " + attempt_id};
}

awaitable<Result<iam::Login>> IdentityAuthority::ByConnection(const http::Request& request) {
  if (sources_.asking == nullptr || request.peer == nullptr) co_return std::unexpected(iam::NotLoggedIn());
  std::string& known = request.peer->attempt;  // a look takes milliseconds, and connections have one owner
  if (known.empty()) {
    TY_CO_TRY(std::optional<std::string> attempt, co_await sources_.asking->FindByPlace(request));
    if (!attempt) co_return std::unexpected(iam::NotLoggedIn());
    known = *std::move(attempt);
  }
  co_return co_await ByAttempt(known);
}

bool IdentityAuthority::StillHolds(const iam::Login& login) const {
  return (!login.expires || *login.expires > sources_.clock.Now()) && sources_.identities.StillHolds(login);
}

awaitable<Standing> IdentityAuthority::StandingOf(std::string principal, std::string permission,
                                                  iam::Resource resource) {
  const identity::Identities& identities = sources_.identities;
  if (identities.Grants(principal, permission, resource))
    co_return Standing{.is_granted = true, .is_seen = true};
  Standing standing{.is_seen = identities.Knows(principal, resource)};
  if (resource.kind != iam::Resource::Kind::kJob) co_return standing;
  wire::JobName name{resource.project, resource.name};
  const Result<control::v1::JobRecord> job = co_await sources_.jobs.Record(std::move(name));
  if (!job) co_return standing;
  const auto has_basic_role = [&](std::string_view role, std::string_view project) {
    return identities.HasBasicRole(principal, role, project);
  };
  const control::JobStanding own = control::StandingOn(*job, principal, permission, has_basic_role);
  co_return Standing{.is_granted = own.is_granted, .is_seen = standing.is_seen || own.is_seen};
}

}  // namespace trainyard::server
