#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/access_store.h"
#include "stores/identity/identities.h"
#include "stores/identity/rsa_key.h"

/// Reads and writes JSON Web Tokens signed with RS256. Pure: any thread. Source: RFC 7515 (compact form), RFC
/// 7519, RFC 8725 (what to refuse).
namespace trainyard::identity {

inline constexpr std::size_t kJwtBytesMax = 8 << 10;  ///< clients' tokens have less than 1 KiB
inline constexpr std::size_t kJwtValuesMax = 100;     ///< JSON values in one part

/// The contents of a JWT. None of it can be trusted before its signature is verified.
struct Jwt {
  std::string key_id;  ///< kid; empty: absent
  std::string issuer;  ///< iss
  std::optional<std::string> subject;
  std::optional<std::string> audience;
  std::optional<std::string> target_audience;
  std::optional<std::string> id;          ///< jti
  std::optional<std::int64_t> issued_at;  ///< seconds since 1970
  std::optional<std::int64_t> expires_at;
  std::optional<std::int64_t> not_before;
  std::string signed_text;  ///< the first two parts as received
  std::string signature;

  [[nodiscard]] bool IsSignedBy(const RsaPublicKey& key) const {
    return key.Verifies(signed_text, signature);
  }
};

/// Whether the text has a JWT's outer form: three parts with dots between them.
[[nodiscard]] bool LooksLikeJwt(std::string_view text) noexcept;

/// Reads it; nothing is verified. kInvalidArgument with a reason that continues "The JWT is refused: ": too
/// long, not three parts, a part that is not base64url without padding (in its one spelling), not a JSON
/// object, a claim that is given twice or of another type, alg other than RS256, typ other than JWT, a
/// critical extension, no iss.
[[nodiscard]] Result<Jwt> ParseJwt(std::string_view text);

/// Signs claims, which are a JSON object.
[[nodiscard]] std::string SignJwt(const RsaPrivateKey& key, std::string_view key_id, std::string_view claims);

// Whether the claims of a service account's JWT are acceptable, apart from its signature. Source: spec
// access.md section 3; RFC 7523 section 3.

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

// OpenID Connect identity tokens, signed with the server's own key. Source: iamcredentials v1,
// generateIdToken; OpenID Connect Core section 2.

/// The claims of a token, as JSON. kInvalidArgument with field "audience"; kFailedPrecondition: the account
/// is disabled. Pure: any thread.
[[nodiscard]] Result<std::string> IdTokenClaims(const v1::ServiceAccount& account,
                                                const Identities::IdToken& wanted, SysTime now);

/// Stores the key unless one is stored already; returns the stored one. Blocking.
[[nodiscard]] Result<RsaPrivateKey> FirstSigningKey(AccessStore& store, const RsaPrivateKey& made);

/// Takes about a millisecond.
[[nodiscard]] Result<std::string> SignIdToken(const RsaPrivateKey& key, const std::string& claims);

}  // namespace trainyard::identity
