#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "control/run/keys.h"

/// Access tokens that are only valid in this installation, and the host name that each replica has for the
/// metadata server, which cannot be guessed. The name is not a credential: programs print their variables.
/// Pure: any thread.
namespace trainyard::control {

/// "ATTEMPT.MAC" and wire::kMetadataSuffix. The same after a restart, because the replica's hosts file
/// contains it.
[[nodiscard]] std::string MetadataHostName(const Keys& keys, const std::string& attempt_id);
/// The attempt whose name is in a Host field (a port is ignored); nothing for any other text.
[[nodiscard]] std::optional<std::string> AttemptOfHost(const Keys& keys, std::string_view host);

/// The contents of an access token. To clients its text is opaque.
struct AccessToken {
  std::string owner;  ///< an attempt's id, or one of the two below
  std::string nonce;  ///< letters and digits: no two tokens are the same
  std::chrono::sys_seconds expires;
  friend bool operator==(const AccessToken&, const AccessToken&) = default;
};
/// The owner is not known, or does not matter: the token gives the rights of the connection on which it is
/// sent.
inline constexpr const char* kAnyReplica = "any-replica";
/// The administrator's token: issued if callers have to log in, and only through DATA/run/admin.sock.
inline constexpr const char* kAdministration = "administration";

/// The lifetime that clients are told; source: spec access.md section 3.
inline constexpr std::chrono::seconds kAccessTokenLife{3'600};

/// "ya29.trainyard.OWNER.EXPIRES.NONCE.MAC".
[[nodiscard]] std::string PrintAccessToken(const Keys& keys, const AccessToken& token);

/// Whether the text claims to be an access token of some installation of Trainyard.
[[nodiscard]] bool LooksLikeAccessToken(std::string_view text);

/// kUnauthenticated: not one that this installation made, or expired.
[[nodiscard]] Result<AccessToken> ReadAccessToken(const Keys& keys, std::string_view text, SysTime now);

}  // namespace trainyard::control
