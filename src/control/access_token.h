#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "control/keys.h"

/// Access tokens that are worth something only in this installation, and how the metadata server knows which
/// replica asks: each has a host name of its own for it, which nobody else can guess. Pure: any thread.
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
/// Replicas that could not be told apart: they asked under Google's own name for the metadata server.
inline constexpr const char* kAnyReplica = "any-replica";
/// Who asked at the administration's sockets.
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
