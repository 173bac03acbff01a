#include "api/iam/token_handlers.h"

#include <boost/json.hpp>
#include <string>
#include <utility>

#include "api/iam/oauth_grant.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/wire/error_body.h"
#include "control/run/access_token.h"
#include "control/run/token_service.h"
#include "net/access/door.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::TokenService;
using http::Request;
using http::Response;

constexpr std::size_t kFormBytesMax = 64 << 10;
constexpr int kBadRequest = 400;
constexpr std::string_view kForm = "application/x-www-form-urlencoded";

/// Must not be cached (RFC 6749 section 5.1).
Response Answered(const boost::json::object& json, int status = 200) {
  Response response = Response::Json(boost::json::serialize(json), status);
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

Response Refused(const GrantError& error) {
  return Answered({{"error", error.error}, {"error_description", error.description}}, kBadRequest);
}

bool IsForm(std::string_view content_type) {
  return content_type.empty() || EqualsIgnoringCase(content_type.substr(0, kForm.size()), kForm);
}

}  // namespace

std::string BearerToken(const Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view field = request.headers.Get("Authorization");
  if (!EqualsIgnoringCase(field.substr(0, kScheme.size()), kScheme)) return {};
  field.remove_prefix(kScheme.size());
  while (field.starts_with(' ')) field.remove_prefix(1);
  return std::string(field);
}

std::string PresentedToken(const Request& request) {
  std::string token = BearerToken(request);
  if (!token.empty()) return token;
  return std::string(request.Query(request.HasQuery("access_token") ? "access_token" : "oauth_token"));
}

namespace {

Response Unauthenticated(const Error& error) {
  Response response = Response::Json(wire::PrintErrorBody(error), wire::HttpStatus(error.code));
  response.headers.Set("WWW-Authenticate", std::string(access::kInvalidTokenChallenge));
  return response;
}

awaitable<Result<Response>> Checked(TokenService& tokens, const http::Handler& handler, Request& request) {
  std::string token = PresentedToken(request);
  if (control::LooksLikeAccessToken(token)) {
    const auto valid = co_await tokens.Check(std::move(token));
    if (!valid) co_return Unauthenticated(valid.error());
  }
  co_return co_await handler(request);
}

}  // namespace

void CheckTokens(http::Router& router, TokenService& tokens) {
  router.Wrap([&tokens](const http::Router::RouteInfo&, http::Handler handler) -> http::Handler {
    return [&tokens, handler = std::move(handler)](Request& request) {
      return Checked(tokens, handler, request);
    };
  });
}

awaitable<Result<Response>> GrantToAnyone(TokenService& tokens, const Clock& clock, Request& request) {
  if (!IsForm(request.headers.Get("Content-Type")))
    co_return Refused({"invalid_request", "The Content-Type must be " + std::string(kForm) + "."});
  TY_CO_TRY(const std::string form, co_await request.body->ReadAll(kFormBytesMax));
  const auto grant = ReadGrant(form, clock.Now());
  if (!grant) co_return Refused(grant.error());
  TY_CO_TRY(const std::string token, co_await tokens.Issue(control::kAnyReplica));
  boost::json::object json{
      {"access_token", token}, {"expires_in", control::kAccessTokenLife.count()}, {"token_type", "Bearer"}};
  if (*grant == GrantType::kTokenExchange)
    json["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token";
  co_return Answered(json);
}

}  // namespace trainyard::api
