#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "control/run/keys.h"

/// Access tokens that are worth something only in this installation, and the host name that each replica has
/// for the metadata server, which nobody can guess. It is no credential: programs print their variables.
/// Pure: any thread.
namespace trainyard::control {

/// "ATTEMPT.MAC" and wire::kMetadataSuffix. The same after a restart: the replica's hosts file has it.
[[nodiscard]] std::string MetadataHostName(const Keys& keys, const std::string& attempt_id);
/// The attempt whose name a Host field has (a port is ignored); nothing for every other text.
[[nodiscard]] std::optional<std::string> AttemptOfHost(const Keys& keys, std::string_view host);

/// What an access token says. Clients take its text for opaque.
struct AccessToken {
  std::string owner;  ///< an attempt's id, or one of the two below
  std::string nonce;  ///< letters and digits: no two tokens are the same
  std::chrono::sys_seconds expires;
  friend bool operator==(const AccessToken&, const AccessToken&) = default;
};
/// Who could not be told apart, or need not be: worth what the connection is on which it is shown.
inline constexpr const char* kAnyReplica = "any-replica";
/// The administrator's: given where who asks has to log in, and by DATA/run/admin.sock alone.
inline constexpr const char* kAdministration = "administration";

/// What clients are told; source: spec access.md section 3.
inline constexpr std::chrono::seconds kAccessTokenLife{3'600};

/// "ya29.trainyard.OWNER.EXPIRES.NONCE.MAC".
[[nodiscard]] std::string PrintAccessToken(const Keys& keys, const AccessToken& token);

/// Whether the text claims to be an access token of some installation of Trainyard.
[[nodiscard]] bool LooksLikeAccessToken(std::string_view text);

/// kUnauthenticated: not one that this installation made, or expired.
[[nodiscard]] Result<AccessToken> ReadAccessToken(const Keys& keys, std::string_view text, SysTime now);

}  // namespace trainyard::control
