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
#include "identity/directory.h"
#include "identity/identities.h"
#include "identity/jwt_rules.h"

namespace trainyard::identity {

/// What shown credentials prove, by what the directory has. Errors are kUnauthenticated; their messages say
/// which credential it is and why. Pure: time comes in.

/// How a token is shown. Those of browsers count as cookies alone, and as cookies alone those of browsers: a
/// cookie is sent to every server of its host name.
enum class ShownAs : std::uint8_t { kBearer, kCookie };

/// An opaque token. The lifetime of the account that it is for, and of the key that asked for it, are looked
/// at each time.
[[nodiscard]] Result<Login> CheckOpaqueToken(const Directory& known, std::string_view text,
                                             const TokenHash& hash, ShownAs as, SysTime now);

/// Whether the token or the key behind a login of these is still good, its time aside.
[[nodiscard]] bool StillProves(const Directory& known, const Login& login);

/// A JWT that a service account's key signed, its claims aside.
struct SignedJwt {
  Jwt jwt;
  std::string email;
  std::string key_id;
};
/// kUnauthenticated: it is malformed; no key of its issuer verifies it; the key or the account is disabled
/// (told only to who has the key).
[[nodiscard]] Result<SignedJwt> VerifyJwt(const Directory& known, std::string_view text);

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
