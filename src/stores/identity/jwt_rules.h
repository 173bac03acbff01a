#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/jwt.h"

/// Whether the claims of a service account's JWT are acceptable, apart from its signature. Pure: any thread.
/// Source: spec access.md section 3; RFC 7523 section 3.
namespace trainyard::identity {

inline constexpr std::chrono::seconds kJwtLifeMax{3'600};  ///< limit for exp - iat, the same as Google's
/// The tolerated difference between a client's clock and ours.
inline constexpr std::chrono::seconds kClockSkewMax{300};

/// A URL that means this server, without a trailing slash. The host may begin with "*.", for one label:
/// "https://*.yard.example:8443".
using OwnAudiences = std::span<const std::string>;

/// Checks an assertion that asks for a token: aud must be a token endpoint (any spelling of Google's, or
/// ours), and sub, if present, the account itself. kInvalidArgument, worded as ParseJwt.
[[nodiscard]] Status CheckAssertionClaims(const Jwt& jwt, OwnAudiences own, SysTime now);

/// Checks a JWT that is itself the credential: aud is absent, Google's service or this server, with any path;
/// sub equals iss.
[[nodiscard]] Status CheckBearerClaims(const Jwt& jwt, OwnAudiences own, SysTime now);

/// Whether it has expired. False without exp, which is refused for another reason.
[[nodiscard]] bool IsOver(const Jwt& jwt, SysTime now);

/// The time until which it is accepted. exp must be present.
[[nodiscard]] SysTime AcceptedUntil(const Jwt& jwt);

}  // namespace trainyard::identity
