#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/directory.h"
#include "stores/identity/identities.h"

/// What making and revoking tokens changes. Pure: any thread; chance and time come in.
namespace trainyard::identity {

inline constexpr std::size_t kTokenDescriptionMax = 256;  ///< bytes
/// Longer lives: without an end, until it is revoked.
inline constexpr std::chrono::seconds kTokenLifeMax = std::chrono::days(365 * 10);
/// So often what was exchanged can be exchanged again: each use looks at all of them.
inline constexpr std::size_t kExchangesMax = 10;
/// For so long an expired token is still told from an unknown one.
inline constexpr std::chrono::seconds kExpiredKept = std::chrono::days(7);

/// Errors as Identities::MakeToken. When the principal has too many, its expired ones go, and of what is
/// exchanged the oldest.
[[nodiscard]] Result<AccessChange> TokenMade(const Directory& known, const Identities::NewToken& wanted,
                                             const std::string& id, const TokenHash& hash, SysTime now);
/// With those that it was exchanged for, or that were made through it, at any remove. kNotFound.
[[nodiscard]] Result<AccessChange> TokenRevoked(const Directory& known, const std::string& id);
/// The token that a token of this issuer was exchanged for; empty: none.
[[nodiscard]] std::string_view TokenOfIssuer(std::string_view issuer);
/// Whether it was made from another credential, and is worth nothing without it.
[[nodiscard]] bool IsExchanged(const v1::Token& token);
/// Adds the tokens that were exchanged for those, or made through them, and so on.
void DropExchanged(const Directory& known, std::vector<std::string>& dropped);
/// Those that expired longer than kExpiredKept ago.
[[nodiscard]] AccessChange ExpiredTokensDropped(const Directory& known, SysTime now);

}  // namespace trainyard::identity
