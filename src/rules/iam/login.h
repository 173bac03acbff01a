#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"

namespace trainyard::iam {

/// The identity that a credential or a connection proves.
struct Login {
  std::string principal;   ///< "user:ann@example.com"
  std::string credential;  ///< for the audit log: "token T", "key K of E", "attempt A"; never a secret
  std::optional<SysTime> expires;  ///< nullopt: valid until revoked
  std::string token_id{};          ///< of an opaque token; else empty
  std::string key_id{};            ///< of the service account's key that signed it; else empty
  /// The attempt whose program sent the request, or for which the token was made; else empty.
  std::string attempt_id{};
  std::string attempt_principal{};  ///< the program's principal at login; it must not have changed since
  friend bool operator==(const Login&, const Login&) = default;
};

}  // namespace trainyard::iam
