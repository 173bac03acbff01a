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
#include "stores/identity/jwt_rules.h"

namespace trainyard::identity {

/// What shown credentials prove, by what the directory has. Errors are kUnauthenticated; their messages say
/// which credential it is and why. Pure: time comes in.

/// How a token is shown. Those of browsers count as cookies alone, and as cookies alone those of browsers: a
/// cookie is sent to every server of its host name.
enum class ShownAs : std::uint8_t { kBearer, kCookie };

/// Whether what a token was made from still is: its account, the key or the token that it was exchanged for,
/// at any remove, and the right of who made it through another credential. Its own time aside.
[[nodiscard]] Status CheckWorth(const Directory& known, const v1::Token& token);

/// An opaque token. CheckWorth is asked each time.
[[nodiscard]] Result<Login> CheckOpaqueToken(const Directory& known, std::string_view text,
                                             const TokenHash& hash, ShownAs as, SysTime now);

/// Whether the token or the key behind a login of these is still good, its time aside.
[[nodiscard]] bool StillProves(const Directory& known, const Login& login);

/// A JWT that may be a service account's: nothing of it is verified.
struct ShownJwt {
  Jwt jwt;
  std::string email;
  std::map<std::string, RsaPublicKey> keys;  ///< by id: those that may have signed it
};
/// kUnauthenticated: it is malformed, or there is no such key.
[[nodiscard]] Result<ShownJwt> ReadJwt(const Directory& known, std::string_view text);
/// The key that signed it; empty: none did. Takes the time of RSA, several times if it names no key: not on
/// the loop. Pure: any thread.
[[nodiscard]] std::string SignerOf(const ShownJwt& shown);

/// A JWT that a service account's key signed, its claims aside.
struct SignedJwt {
  Jwt jwt;
  std::string email;
  std::string key_id;
};
/// Of what SignerOf found. kUnauthenticated: nobody signed it; the key or the account is disabled or gone
/// meanwhile (told only to who has the key).
[[nodiscard]] Result<SignedJwt> SignedBy(const Directory& known, ShownJwt shown, const std::string& key_id);

/// Self-signed JWTs that were verified, so that a client's second request costs no RSA. Bounded; forgotten
/// as a whole when accounts or keys change. One thread at a time.
class VerifiedJwts {
 public:
  static constexpr std::size_t kEntriesMax = 4'096;

  /// Null: not seen yet, or over.
  [[nodiscard]] const Login* Find(const TokenHash& hash, SysTime now);
  /// The one that was asked for the longest ago gives way.
  void Remember(const TokenHash& hash, Login login);
  void Forget();
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    TokenHash hash;
    Login login;
  };
  std::list<Entry> entries_;  ///< the last asked for first
  std::map<TokenHash, std::list<Entry>::iterator> places_;
};

/// Assertions with an id (jti), each of which is good once. One thread at a time.
class UsedAssertions {
 public:
  static constexpr std::size_t kEntriesMax = 100'000;

  /// False: it was used before, or so many were that no more can be remembered.
  [[nodiscard]] bool Use(const TokenHash& id, SysTime until, SysTime now);

 private:
  std::map<TokenHash, SysTime> until_;
};

}  // namespace trainyard::identity
