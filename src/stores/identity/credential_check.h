#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "stores/identity/directory.h"
#include "stores/identity/identities.h"
#include "stores/identity/jwt.h"

namespace trainyard::identity {

/// What presented credentials prove, according to the directory. Errors are kUnauthenticated; their messages
/// say which credential it is and why. Pure: the time is an argument.

/// How a token is presented. Tokens of browsers count only as cookies, and only tokens of browsers count as
/// cookies: a cookie is sent to every server of its host name.
enum class ShownAs : std::uint8_t { kBearer, kCookie };

/// Whether everything that a token depends on is still valid: its account, the key or token that it was
/// exchanged for (the whole chain), and the right of the caller who made it through another credential. Does
/// not check its expiry.
[[nodiscard]] Status CheckWorth(const Directory& known, const v1::Token& token);

/// Checks an opaque token. Calls CheckWorth each time.
[[nodiscard]] Result<Login> CheckOpaqueToken(const Directory& known, std::string_view text,
                                             const TokenHash& hash, ShownAs as, SysTime now);

/// Whether the token or key behind such a login is still valid, apart from its expiry.
[[nodiscard]] bool StillProves(const Directory& known, const Login& login);

/// A JWT that may be a service account's: nothing in it is verified.
struct ShownJwt {
  Jwt jwt;
  std::string email;
  std::map<std::string, RsaPublicKey> keys;  ///< by id: the keys that may have signed it
};
/// kUnauthenticated: it is malformed, or there is no such key.
[[nodiscard]] Result<ShownJwt> ReadJwt(const Directory& known, std::string_view text);
/// The id of the key that signed it; empty: none did. Takes as long as an RSA verification, or several if it
/// names no key: not on the loop. Pure: any thread.
[[nodiscard]] std::string SignerOf(const ShownJwt& shown);

/// A JWT with a valid signature of a service account's key; its claims are not checked.
struct SignedJwt {
  Jwt jwt;
  std::string email;
  std::string key_id;
};
/// Combines the JWT with the result of SignerOf. kUnauthenticated: no key signed it; the key or the account
/// was disabled or deleted meanwhile (said only if the signature is valid).
[[nodiscard]] Result<SignedJwt> SignedBy(const Directory& known, ShownJwt shown, const std::string& key_id);

/// Self-signed JWTs that were verified, so that a client's second request needs no RSA verification. Bounded;
/// all are forgotten when accounts or keys change. One thread at a time.
class VerifiedJwts {
 public:
  static constexpr std::size_t kEntriesMax = 4'096;

  /// Null: not seen yet, or expired.
  [[nodiscard]] const Login* Find(const TokenHash& hash, SysTime now);
  /// Replaces the least recently used one if it is full.
  void Remember(const TokenHash& hash, Login login);
  void Forget();
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    TokenHash hash;
    Login login;
  };
  std::list<Entry> entries_;  ///< most recently used first
  std::map<TokenHash, std::list<Entry>::iterator> places_;
};

/// Assertions with an id (jti), each of which is valid once. One thread at a time.
class UsedAssertions {
 public:
  static constexpr std::size_t kEntriesMax = 100'000;

  /// False: it was used before, or too many were used to remember more.
  [[nodiscard]] bool Use(const TokenHash& id, SysTime until, SysTime now);

 private:
  std::map<TokenHash, SysTime> until_;
};

}  // namespace trainyard::identity
