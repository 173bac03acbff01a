#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "control/run/keys.h"
#include "control/settings.h"

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

class JobService;

/// Issues access tokens and checks them. Stores nothing: a token proves itself, and an attempt's token is
/// only valid while the attempt runs. Loop thread only; its arguments outlive it. Waits until the jobs of a
/// previous server are taken over.
class TokenService {
 public:
  TokenService(const Settings& settings, const Clock& clock, JobService& jobs)
      : settings_(settings), clock_(clock), jobs_(jobs) {}

  /// A new token for AccessToken::owner. kPermissionDenied: an attempt that has ended.
  boost::asio::awaitable<Result<std::string>> Issue(std::string owner);

  /// The contents of a valid token. kUnauthenticated: not a token of this installation, expired, or of an
  /// attempt that has ended.
  boost::asio::awaitable<Result<AccessToken>> Check(std::string token);

  /// The value by which a page of the console proves, in addition to the cookie with this token, that the
  /// request is its own: it cannot be computed from the token without the installation's secret.
  [[nodiscard]] std::string SessionSecret(std::string_view token) const;

 private:
  const Settings& settings_;
  const Clock& clock_;
  JobService& jobs_;
};

}  // namespace trainyard::control
