#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/clock.h"

/// Requests to a token endpoint. Pure: any thread. Source: RFC 6749 sections 4.5, 5.2 and 6, RFC 7523,
/// RFC 8693; which clients send what: spec access.md sections 2 and 3.
namespace trainyard::api {

enum class GrantType { kJwtBearer, kRefreshToken, kTokenExchange };

/// "invalid_grant" and the like, and a sentence that clients show.
struct GrantError {
  std::string error;
  std::string description;
};

/// Reads the form of `POST /token`. An assertion is a JWT of three parts that RS256 signs, with iss, aud, iat
/// and exp, valid at `now` and for an hour at most, for a scope (which may be empty). Its signature is not
/// verified: there are no accounts with keys yet.
[[nodiscard]] std::expected<GrantType, GrantError> ReadGrant(std::string_view form, SysTime now);

}  // namespace trainyard::api
