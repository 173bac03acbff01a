#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "identity/directory.h"
#include "identity/identities.h"

/// What making and revoking tokens changes. Pure: any thread; chance and time come in.
namespace trainyard::identity {

inline constexpr std::size_t kTokenDescriptionMax = 256;  ///< bytes
/// Longer lives: without an end, until it is revoked.
inline constexpr std::chrono::seconds kTokenLifeMax = std::chrono::days(365 * 10);
/// For so long an expired token is still told from an unknown one.
inline constexpr std::chrono::seconds kExpiredKept = std::chrono::days(7);

/// Errors as Identities::MakeToken. Expired ones of the principal go when it has too many.
[[nodiscard]] Result<AccessChange> TokenMade(const Directory& known, const Identities::NewToken& wanted,
                                             const std::string& id, const TokenHash& hash, SysTime now);
/// With those of its principal that it was exchanged for ("token ID" is their issuer). kNotFound.
[[nodiscard]] Result<AccessChange> TokenRevoked(const Directory& known, const std::string& id);
/// Those that expired longer than kExpiredKept ago.
[[nodiscard]] AccessChange ExpiredTokensDropped(const Directory& known, SysTime now);

}  // namespace trainyard::identity
