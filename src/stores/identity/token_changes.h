#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/directory.h"
#include "stores/identity/identities.h"

/// Changes made by making and revoking tokens. Pure: any thread; random values and time are arguments.
namespace trainyard::identity {

inline constexpr std::size_t kTokenDescriptionMax = 256;  ///< bytes
/// A token with a longer life never expires, but can be revoked.
inline constexpr std::chrono::seconds kTokenLifeMax = std::chrono::days(365 * 10);
/// How many times in a row a token can be exchanged for another: each use checks the whole chain.
inline constexpr std::size_t kExchangesMax = 10;
/// How long expired tokens are kept, to tell them from unknown ones.
inline constexpr std::chrono::seconds kExpiredKept = std::chrono::days(7);

/// Errors as Identities::MakeToken. If the principal has too many tokens, its expired ones are dropped, and
/// of exchanged ones the oldest.
[[nodiscard]] Result<AccessChange> TokenMade(const Directory& known, const Identities::NewToken& wanted,
                                             const std::string& id, const TokenHash& hash, SysTime now);
/// Also revokes all tokens that it was exchanged for or that were made through it, directly or indirectly.
/// kNotFound.
[[nodiscard]] Result<AccessChange> TokenRevoked(const Directory& known, const std::string& id);
/// The token from which a token of this issuer was exchanged; empty: none.
[[nodiscard]] std::string_view TokenOfIssuer(std::string_view issuer);
/// Whether it was made from another credential, and is invalid without it.
[[nodiscard]] bool IsExchanged(const v1::Token& token);
/// Adds the tokens that were exchanged from these, or made through them, and so on.
void DropExchanged(const Directory& known, std::vector<std::string>& dropped);
/// Drops the tokens that expired more than kExpiredKept ago.
[[nodiscard]] AccessChange ExpiredTokensDropped(const Directory& known, SysTime now);

}  // namespace trainyard::identity
