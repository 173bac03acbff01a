#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"

namespace trainyard::iam {

/// What a shown credential proves, or a connection.
struct Login {
  std::string principal;   ///< "user:ann@example.com"
  std::string credential;  ///< for the audit log: "token T", "key K of E", "attempt A"; never a secret
  std::optional<SysTime> expires;  ///< nothing: when it is revoked
  std::string token_id{};          ///< of an opaque token; else empty
  std::string key_id{};            ///< of the service account's key that signed it; else empty
  /// Of the program in a replica that asks, or for which a token was made; else empty.
  std::string attempt_id{};
  std::string attempt_principal{};  ///< as whom that program ran when it asked: it has to be the same still
  friend bool operator==(const Login&, const Login&) = default;
};

}  // namespace trainyard::iam
