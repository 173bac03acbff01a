#include <algorithm>
#include <boost/json/object.hpp>
#include <chrono>
#include <memory>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "api/iam/token_handlers.h"
#include "base/clock.h"
#include "net/access/door.h"
#include "net/access/failed_logins.h"
#include "net/http/uri.h"
#include "rules/iam/principal.h"

namespace trainyard::api {
namespace {

using identity::Identities;
using std::chrono::seconds;

using FormOrRefusal = std::expected<OauthForm, Response>;

constexpr seconds kTokenLife{3'600};
constexpr seconds kToldLess{1};  // as Google's: a client requests a new token before this one ends

/// Errors that are not caused by the client's grant get another OAuth error; all others are the grant's.
Result<Response> RefusedFor(const Error& error) {
  const bool is_ours = error.code == Code::kUnavailable || error.code == Code::kInternal ||
                       error.code == Code::kDataLoss || error.code == Code::kResourceExhausted;
  if (is_ours) return std::unexpected(error);
  return OauthRefusal("invalid_grant", error.message);
}

/// Answers an invalid credential after a pause, so that many cannot be tried quickly.
awaitable<Result<Response>> RefusedCredential(TokenEndpoint& endpoint, const Request& request, Error error) {
  Result<Response> refused = RefusedFor(error);
  if (refused) co_await access::SlowDown(endpoint.failed, access::AddressOf(request), endpoint.clock.Now());
  co_return refused;
}

/// The body's form, or OAuth's refusal of it.
awaitable<Result<FormOrRefusal>> ReadForm(Request& request) {
  if (!HasFormType(request))
    co_return FormOrRefusal(std::unexpected(
        OauthRefusal("invalid_request", "The Content-Type must be " + std::string(kFormType) + ".")));
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kFormBytesMax));
  Result<OauthForm> form = http::ParseQuery(text);
  if (!form)
    co_return FormOrRefusal(std::unexpected(
        OauthRefusal("invalid_request", "The body is not a form (" + std::string(kFormType) + ").")));
  co_return FormOrRefusal(*std::move(form));
}

awaitable<bool> Holds(const Identities& identities, identity::Login login) {
  co_return identities.StillHolds(login);
}

/// Whether the key is still valid.
identity::StillMay StillHeld(const Identities& identities, const Identities::Assertion& proven) {
  identity::Login login{
      .principal = proven.principal, .credential = "", .expires = {}, .key_id = proven.key_id};
  return [&identities, login = std::move(login)] { return Holds(identities, login); };
}

awaitable<Result<Response>> IdTokenFor(TokenEndpoint& endpoint, const Identities::Assertion& proven,
                                       std::string server) {
  Identities::IdToken wanted{.email = std::string(iam::EmailOf(proven.principal)),
                             .audience = proven.target_audience,
                             .include_email = true,  // as Google's endpoint does
                             .issuer = std::move(server),
                             .still_may = StillHeld(endpoint.identities, proven)};
  const Result<std::string> token = co_await endpoint.identities.MakeIdToken(std::move(wanted));
  if (!token) co_return RefusedFor(token.error());
  co_return OauthAnswer({{"id_token", *token}});
}

awaitable<Result<Response>> TokenFor(TokenEndpoint& endpoint, Identities::NewToken wanted, bool is_exchange) {
  const seconds life = wanted.life.value_or(kTokenLife);
  const Result<Identities::IssuedToken> made = co_await endpoint.identities.MakeToken(std::move(wanted));
  if (!made) co_return RefusedFor(made.error());
  // Names, order and types as clients expect them: some read expires_in only as an integer.
  boost::json::object json{{"access_token", made->text},
                           {"expires_in", std::max(life - kToldLess, seconds(0)).count()},
                           {"token_type", "Bearer"}};
  if (is_exchange) json["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token";
  co_return OauthAnswer(json);
}

awaitable<Result<Response>> GrantJwt(TokenEndpoint& endpoint, OauthForm form, const Request& request) {
  std::string assertion(FieldOf(form, "assertion"));
  if (assertion.empty()) co_return OauthRefusal("invalid_request", "assertion is missing.");
  const Result<Identities::Assertion> proven =
      co_await endpoint.identities.CheckAssertion(std::move(assertion), endpoint.names.own_audiences);
  if (!proven) co_return co_await RefusedCredential(endpoint, request, proven.error());
  if (!proven->target_audience.empty())
    co_return co_await IdTokenFor(endpoint, *proven, endpoint.names.server);
  Identities::NewToken wanted{.principal = proven->principal,
                              .life = kTokenLife,
                              .description = "POST /token",
                              .issuer = "key " + proven->key_id};
  co_return co_await TokenFor(endpoint, std::move(wanted), false);
}

/// Exchanges the credential of an external account's file: a token or self-signed JWT of this server.
awaitable<Result<Response>> ExchangeFor(TokenEndpoint& endpoint, std::string subject, bool is_exchange,
                                        const Request& request) {
  const Result<identity::Login> login =
      co_await endpoint.identities.Check(std::move(subject), endpoint.names.own_audiences);
  if (!login) co_return co_await RefusedCredential(endpoint, request, login.error());
  seconds life = kTokenLife;
  if (login->expires)
    life = std::min(life, std::chrono::floor<seconds>(*login->expires - endpoint.clock.Now()));
  if (life < seconds(1)) co_return OauthRefusal("invalid_grant", "The credential expires within a second.");
  Identities::NewToken wanted{.principal = login->principal,
                              .life = life,
                              .description = is_exchange ? "POST /v1/token" : "POST /token",
                              .issuer = identity::IssuerOf(*login)};
  co_return co_await TokenFor(endpoint, std::move(wanted), is_exchange);
}

awaitable<Result<Response>> Exchange(TokenEndpoint& endpoint, OauthForm form, const Request& request) {
  std::string subject(FieldOf(form, "subject_token"));
  if (subject.empty()) co_return OauthRefusal("invalid_request", "subject_token is missing.");
  if (FieldOf(form, "subject_token_type").empty())
    co_return OauthRefusal("invalid_request", "subject_token_type is missing.");
  co_return co_await ExchangeFor(endpoint, std::move(subject), true, request);
}

/// Any token of this server is also a refresh token, for clients that accept no other (gsutil, gcloud's own
/// login). The new token has the same rights, and does not last longer than the token itself; client_id and
/// client_secret are not checked.
awaitable<Result<Response>> Refresh(TokenEndpoint& endpoint, OauthForm form, const Request& request) {
  std::string token(FieldOf(form, "refresh_token"));
  if (token.empty()) co_return OauthRefusal("invalid_request", "refresh_token is missing.");
  co_return co_await ExchangeFor(endpoint, std::move(token), false, request);
}

}  // namespace

awaitable<Result<Response>> GrantToken(TokenEndpoint& endpoint, Request& request) {
  TY_CO_TRY(FormOrRefusal form, co_await ReadForm(request));
  if (!form) co_return std::move(form).error();
  const std::string type(FieldOf(*form, "grant_type"));
  if (type == "urn:ietf:params:oauth:grant-type:jwt-bearer")
    co_return co_await GrantJwt(endpoint, *std::move(form), request);
  if (type == "urn:ietf:params:oauth:grant-type:token-exchange")
    co_return co_await Exchange(endpoint, *std::move(form), request);
  if (type.empty()) co_return OauthRefusal("invalid_request", "grant_type is missing.");
  if (type == "refresh_token") co_return co_await Refresh(endpoint, *std::move(form), request);
  co_return OauthRefusal("unsupported_grant_type",
                         "This server supports the grants jwt-bearer, refresh_token and token-exchange.");
}

/// The data that a client may get about a token that it has. Source: RFC 7662; gcloud reads `username`.
awaitable<Result<Response>> IntrospectToken(TokenEndpoint& endpoint, Request& request) {
  TY_CO_TRY(FormOrRefusal form, co_await ReadForm(request));
  if (!form) co_return std::move(form).error();
  std::string token(FieldOf(*form, "token"));
  if (token.empty()) co_return OauthRefusal("invalid_request", "token is missing.");
  const Result<identity::Login> login =
      co_await endpoint.identities.Check(std::move(token), endpoint.names.own_audiences);
  if (!login) {
    TY_CO_RETURN_IF_ERROR(co_await RefusedCredential(endpoint, request, login.error()));
    co_return OauthAnswer({{"active", false}});
  }
  boost::json::object json{{"active", true}, {"username", iam::EmailOf(login->principal)}};
  if (login->expires) json["exp"] = std::chrono::floor<seconds>(*login->expires).time_since_epoch().count();
  co_return OauthAnswer(json);
}

}  // namespace trainyard::api
