#pragma once

#include "http/router.h"

namespace trainyard::control {
class TokenService;
}  // namespace trainyard::control

namespace trainyard {
class Clock;
}  // namespace trainyard

namespace trainyard::api {

/// `POST /token` of oauth2.googleapis.com: programs that bring credentials of their own ask it for a token.
/// The answer to a well-formed grant (oauth_grant.h) is one that gives no more than the connection may do; to
/// any other it is a 400 with OAuth's error. `tokens` and `clock` outlive the router.
void AddTokenRoute(http::Router& router, control::TokenService& tokens, const Clock& clock);

/// From now on each handler that the router has runs only if an access token of this installation's form, in
/// `Authorization: Bearer` or in the query's access_token or oauth_token, is valid; else the answer is 401.
/// Requests without a token, or with one of another form, pass: nobody has to log in yet. `tokens` outlives
/// the router.
void CheckTokens(http::Router& router, control::TokenService& tokens);

}  // namespace trainyard::api
