#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/jwt.h"

/// When the claims of a service account's JWT hold, its signature aside. Pure: any thread. Source: spec
/// access.md section 3; RFC 7523 section 3.
namespace trainyard::identity {

inline constexpr std::chrono::seconds kJwtLifeMax{3'600};  ///< exp - iat; Google's limit, too
/// By which a client's clock may be wrong.
inline constexpr std::chrono::seconds kClockSkewMax{300};

/// An URL that means this server, without the last slash. The host may begin with "*.", for one label:
/// "https://*.yard.example:8443".
using OwnAudiences = std::span<const std::string>;

/// Of an assertion for a token: aud is a token endpoint, Google's in any spelling or ours; nobody but the
/// account itself is the subject. kInvalidArgument, worded as ParseJwt.
[[nodiscard]] Status CheckAssertionClaims(const Jwt& jwt, OwnAudiences own, SysTime now);

/// Of one that is itself the credential: aud is absent, Google's service or this server, with any path;
/// sub is iss.
[[nodiscard]] Status CheckBearerClaims(const Jwt& jwt, OwnAudiences own, SysTime now);

/// Whether its time is over. Not so without exp, which is refused for another reason.
[[nodiscard]] bool IsOver(const Jwt& jwt, SysTime now);

/// Until when it is accepted. exp must be there.
[[nodiscard]] SysTime AcceptedUntil(const Jwt& jwt);

}  // namespace trainyard::identity
