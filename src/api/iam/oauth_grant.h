#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/clock.h"

/// Requests to a token endpoint. Pure: any thread. Source: RFC 6749 sections 4.5, 5.2 and 6, RFC 7523, RFC
/// 8693; for what each client sends: spec access.md sections 2 and 3.
namespace trainyard::api {

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

}  // namespace trainyard::api
