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

/// `POST /token` of oauth2.googleapis.com: called by programs with credentials of their own. A well-formed
/// grant (oauth_grant.h) is answered with a token that permits no more than the connection does; any other
/// with a 400 and OAuth's error.
Waits<control::TokenService, const Clock> GrantToAnyone;

/// The access token that `Authorization: Bearer` has; empty: none.
[[nodiscard]] std::string BearerToken(const http::Request& request);

/// The access token that a request shows, in `Authorization: Bearer` or in the query's access_token or
/// oauth_token; empty: none.
[[nodiscard]] std::string PresentedToken(const http::Request& request);

/// Wraps all handlers that the router has now: each runs only if an access token of this installation's form
/// that the request shows is valid; else the answer is
/// 401. Requests without a token, or with a token of another form, pass: there is no login yet. `tokens`
/// outlives the router.
void CheckTokens(http::Router& router, control::TokenService& tokens);

}  // namespace trainyard::api
