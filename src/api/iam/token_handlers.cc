#include "api/iam/token_handlers.h"

#include <array>
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/text/base64.h"
#include "base/wire/error_body.h"
#include "control/run/token_service.h"
#include "net/access/door.h"
#include "net/http/uri.h"

namespace trainyard::api {

namespace {

using control::TokenService;
using Outcome = std::expected<GrantType, GrantError>;

constexpr int kBadRequest = 400;

}  // namespace

Response OauthAnswer(const boost::json::object& json, int status) {
  Response response = Response::Json(boost::json::serialize(json), status);
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

Response OauthRefusal(std::string_view error, std::string_view description) {
  return OauthAnswer({{"error", error}, {"error_description", description}}, kBadRequest);
}

bool HasFormType(const Request& request) {
  const std::string_view type = request.headers.Get("Content-Type");
  return type.empty() || EqualsIgnoringCase(type.substr(0, kFormType.size()), kFormType);
}

std::string_view FieldOf(const OauthForm& form, std::string_view name) {
  for (const auto& [key, value] : form) {
    if (key == name) return value;
  }
  return {};
}

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
  if (!HasFormType(request))
    co_return OauthRefusal("invalid_request", "The Content-Type must be " + std::string(kFormType) + ".");
  TY_CO_TRY(const std::string form, co_await request.body->ReadAll(kFormBytesMax));
  const auto grant = ReadGrant(form, clock.Now());
  if (!grant) co_return OauthRefusal(grant.error().error, grant.error().description);
  TY_CO_TRY(const std::string token, co_await tokens.Issue(control::kAnyReplica));
  boost::json::object json{
      {"access_token", token}, {"expires_in", control::kAccessTokenLife.count()}, {"token_type", "Bearer"}};
  if (*grant == GrantType::kTokenExchange)
    json["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token";
  co_return OauthAnswer(json);
}

namespace {

constexpr std::int64_t kLifeMaxSeconds = 3'600;  // the same as the limit of Google's endpoint
constexpr std::int64_t kClockSkewSeconds = 300;

std::unexpected<GrantError> Refuse(const char* error, std::string description) {
  return std::unexpected(GrantError{error, std::move(description)});
}

std::unexpected<GrantError> BadAssertion(const std::string& why) {
  return Refuse("invalid_grant",
                "The assertion is not a JWT signed with a service account's key: " + why + ".");
}

/// The JSON object in one part of a JWT (base64url without padding).
std::optional<boost::json::object> PartObject(std::string_view part) {
  const auto decoded = text::FromBase64(part, text::Base64Form::kUrlBare);
  if (!decoded) return std::nullopt;
  boost::system::error_code error;
  boost::json::value json = boost::json::parse(*decoded, error);
  if (error || !json.is_object()) return std::nullopt;
  return std::move(json).as_object();
}

std::string_view Text(const boost::json::object& object, const char* name) {
  const boost::json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

std::optional<std::int64_t> Number(const boost::json::object& object, const char* name) {
  const boost::json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto number = value->to_number<std::int64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

Outcome CheckTimes(const boost::json::object& claims, std::int64_t now) {
  const auto from = Number(claims, "iat");
  const auto until = Number(claims, "exp");
  // The bounds are checked first, so that the subtraction cannot overflow.
  constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;
  for (const auto& time : {from, until}) {
    if (!time || *time < 0 || *time > kSecondsMax) return BadAssertion("iat and exp must be times");
  }
  if (*until <= *from || *until - *from > kLifeMaxSeconds + kClockSkewSeconds)
    return BadAssertion("exp must be at most an hour after iat");
  if (*until + kClockSkewSeconds <= now) return BadAssertion("it has expired");
  if (*from - kClockSkewSeconds > now) return BadAssertion("iat is in the future");
  return GrantType::kJwtBearer;
}

Outcome CheckAssertion(std::string_view assertion, SysTime now) {
  const std::size_t first = assertion.find('.');
  const std::size_t second = first == std::string_view::npos ? first : assertion.find('.', first + 1);
  if (second == std::string_view::npos || assertion.find('.', second + 1) != std::string_view::npos ||
      second + 1 == assertion.size())
    return BadAssertion("it does not have three parts");
  const auto header = PartObject(assertion.substr(0, first));
  const auto claims = PartObject(assertion.substr(first + 1, second - first - 1));
  if (!header || !claims) return BadAssertion("a part is not a JSON object in base64url");
  if (Text(*header, "alg") != "RS256") return BadAssertion("alg must be RS256");
  if (Text(*claims, "iss").empty()) return BadAssertion("iss is missing");
  if (Text(*claims, "aud").empty()) return BadAssertion("aud is missing");
  if (claims->contains("target_audience"))
    return Refuse("invalid_grant",
                  "This server issues access tokens only, no identity tokens. Request a token with a scope.");
  if (!claims->contains("scope")) return BadAssertion("scope is missing");
  return CheckTimes(*claims,
                    std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

Outcome Require(const OauthForm& form, GrantType type, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (FieldOf(form, name).empty()) return Refuse("invalid_request", std::string(name) + " is missing.");
  }
  return type;
}

}  // namespace

std::expected<GrantType, GrantError> ReadGrant(std::string_view text, SysTime now) {
  const auto form = http::ParseQuery(text);
  if (!form) return Refuse("invalid_request", "The body is not a form (application/x-www-form-urlencoded).");
  const std::string_view type = FieldOf(*form, "grant_type");
  if (type.empty()) return Refuse("invalid_request", "grant_type is missing.");
  if (type == "refresh_token") return Require(*form, GrantType::kRefreshToken, {"refresh_token"});
  if (type == "urn:ietf:params:oauth:grant-type:jwt-bearer") {
    const Outcome complete = Require(*form, GrantType::kJwtBearer, {"assertion"});
    return complete ? CheckAssertion(FieldOf(*form, "assertion"), now) : complete;
  }
  if (type == "urn:ietf:params:oauth:grant-type:token-exchange")
    return Require(*form, GrantType::kTokenExchange, {"subject_token", "subject_token_type"});
  return Refuse("unsupported_grant_type",
                "This server supports the grants jwt-bearer, refresh_token and token-exchange.");
}

}  // namespace trainyard::api
