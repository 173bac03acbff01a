#include <algorithm>
#include <chrono>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/clock.h"
#include "base/wire/time.h"
#include "net/access/caller.h"
#include "rules/iam/principal.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using identity::Identities;
using std::chrono::seconds;
namespace v1 = identity::v1;

constexpr seconds kLifeMax{3'600};  // Source: iamcredentials v1, generateAccessToken

Status CheckDelegates(const google::protobuf::RepeatedPtrField<std::string>& delegates) {
  if (delegates.empty()) return {};
  return std::unexpected(InvalidArgument(
      "delegates",
      "Chains of delegates are not followed: bind roles/iam.serviceAccountTokenCreator on the "
      "account itself to who asks"));
}

Result<seconds> LifeOf(const v1::GenerateAccessTokenRequest& wanted) {
  if (!wanted.has_lifetime()) return kLifeMax;
  const auto life = std::chrono::floor<seconds>(wire::FromProto(wanted.lifetime()));
  if (life >= seconds(1) && life <= kLifeMax) return life;
  return std::unexpected(InvalidArgument("lifetime", "The lifetime must be from 1s to 3600s"));
}

/// Must not be cached (RFC 6749 section 5.1).
Response Secret(const google::protobuf::Message& answer) {
  Response response = Response::Json(wire::PrintJson(answer));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

/// Not longer than the credential that was used, so that an expiring token cannot renew itself.
seconds LifeWithin(seconds life, const iam::Login& login, const Clock& clock) {
  if (!login.expires) return life;
  return std::clamp(std::chrono::floor<seconds>(*login.expires - clock.Now()), seconds(1), life);
}

}  // namespace

awaitable<Result<Response>> GenerateAccessToken(Identities& identities, const Clock& clock,
                                                Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::GenerateAccessTokenRequest>(request));
  TY_CO_RETURN_IF_ERROR(CheckDelegates(body.delegates()));
  TY_CO_TRY(const seconds life, LifeOf(body));
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  Identities::NewToken wanted{.principal = iam::ServiceAccountPrincipal(account.email()),
                              .life = life,
                              .description = "generateAccessToken",
                              .issuer = access::PrincipalOf(request),
                              .still_may = StillMayOf(request)};
  if (request.caller != nullptr) {
    wanted.life = LifeWithin(life, request.caller->login(), clock);
    wanted.through = identity::IssuerOf(request.caller->login());
  }
  TY_CO_TRY(const Identities::MadeToken made, co_await identities.MakeToken(std::move(wanted)));
  v1::GenerateAccessTokenResponse answer;
  answer.set_access_token(made.text);
  *answer.mutable_expire_time() = made.token.expire_time();
  co_return Secret(answer);
}

awaitable<Result<Response>> GenerateIdToken(Identities& identities, const TokenNames& names,
                                            Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::GenerateIdTokenRequest>(request));
  TY_CO_RETURN_IF_ERROR(CheckDelegates(body.delegates()));
  TY_CO_TRY(const v1::ServiceAccount account, AccountOf(identities, request));
  Identities::IdToken wanted{.email = account.email(),
                             .audience = body.audience(),
                             .include_email = body.include_email(),
                             .issuer = names.server,
                             .still_may = StillMayOf(request)};
  TY_CO_TRY(const std::string token, co_await identities.MakeIdToken(std::move(wanted)));
  v1::GenerateIdTokenResponse answer;
  answer.set_token(token);
  co_return Secret(answer);
}

}  // namespace trainyard::api
