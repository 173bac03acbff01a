#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/access_store.h"
#include "stores/identity/identities.h"
#include "stores/identity/rsa_key.h"

/// OpenID Connect identity tokens, signed with the server's own key. Source: iamcredentials v1,
/// generateIdToken; OpenID Connect Core section 2.
namespace trainyard::identity {

/// The claims of a token, as JSON. kInvalidArgument with field "audience"; kFailedPrecondition: the account
/// is disabled. Pure: any thread.
[[nodiscard]] Result<std::string> IdTokenClaims(const v1::ServiceAccount& account,
                                                const Identities::IdToken& wanted, SysTime now);

/// Stores the key unless one is stored already; returns the stored one. Blocking.
[[nodiscard]] Result<RsaPrivateKey> FirstSigningKey(AccessStore& store, const RsaPrivateKey& made);

/// Takes about a millisecond.
[[nodiscard]] Result<std::string> SignIdToken(const RsaPrivateKey& key, const std::string& claims);

}  // namespace trainyard::identity
