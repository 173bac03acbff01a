#pragma once

#include <string>

#include "api/route.h"

namespace trainyard::control {
class TokenService;
}  // namespace trainyard::control

namespace trainyard {
class Clock;
}  // namespace trainyard

namespace trainyard::api {

/// `POST /token` of oauth2.googleapis.com: called by programs that have credentials. A well-formed grant
/// (oauth_grant.h) is answered with a token that gives no more rights than the connection; any other with a
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

}  // namespace trainyard::api
