#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/route.h"
#include "base/clock.h"

namespace trainyard::control {
class TokenService;
}  // namespace trainyard::control

namespace trainyard {
class Clock;
}  // namespace trainyard

namespace trainyard::api {

/// `POST /token` of oauth2.googleapis.com: called by programs that have credentials. A well-formed grant
/// (ReadGrant) is answered with a token that gives no more rights than the connection; any other with a
/// 400 and OAuth's error.
Waits<control::TokenService, const Clock> GrantToAnyone;

/// The access token in `Authorization: Bearer`; empty: none.
[[nodiscard]] std::string BearerToken(const http::Request& request);

/// The access token of a request, from `Authorization: Bearer` or the query's access_token or oauth_token;
/// empty: none.
[[nodiscard]] std::string PresentedToken(const http::Request& request);

/// Wraps all handlers that the router has now: if a request has an access token of this installation's form,
/// its handler only runs if the token is valid; otherwise the answer is 401. Requests without a token, or
/// with a token of another form, pass: there is no login here. `tokens` outlives the router.
void CheckTokens(http::Router& router, control::TokenService& tokens);

// Requests to a token endpoint. Pure: any thread. Source: RFC 6749 sections 4.5, 5.2 and 6, RFC 7523, RFC
// 8693; for what each client sends: spec access.md sections 2 and 3.

enum class GrantType { kJwtBearer, kRefreshToken, kTokenExchange };

/// An OAuth error code such as "invalid_grant", and a sentence that clients show.
struct GrantError {
  std::string error;
  std::string description;
};

/// Reads the form of `POST /token`. An assertion is a JWT of three parts, signed with RS256, with iss, aud,
/// iat and exp, valid at `now` and for at most an hour, for a scope (which may be empty). Its signature is
/// not verified here.
[[nodiscard]] std::expected<GrantType, GrantError> ReadGrant(std::string_view form, SysTime now);

/// The fields of a form in the body of a request.
using OauthForm = std::vector<std::pair<std::string, std::string>>;
/// Empty: absent.
[[nodiscard]] std::string_view FieldOf(const OauthForm& form, std::string_view name);
inline constexpr std::size_t kFormBytesMax = 64 << 10;
inline constexpr std::string_view kFormType = "application/x-www-form-urlencoded";
[[nodiscard]] bool HasFormType(const http::Request& request);

/// An answer that must not be cached (RFC 6749 section 5.1).
[[nodiscard]] http::Response OauthAnswer(const boost::json::object& json, int status = 200);
[[nodiscard]] http::Response OauthRefusal(std::string_view error, std::string_view description);

}  // namespace trainyard::api
