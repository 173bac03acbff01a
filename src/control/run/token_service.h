#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "control/run/access_token.h"
#include "control/settings.h"

namespace trainyard::control {

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
