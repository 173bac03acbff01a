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

/// Gives out access tokens and says which are valid. Keeps nothing: a token proves itself, and an attempt's
/// is worth something only while the attempt lives. Loop thread only; what it is given outlives it. Waits
/// until the jobs of a former server are taken over.
class TokenService {
 public:
  TokenService(const Settings& settings, const Clock& clock, JobService& jobs)
      : settings_(settings), clock_(clock), jobs_(jobs) {}

  /// A new token of AccessToken::owner. kPermissionDenied: an attempt that has ended.
  boost::asio::awaitable<Result<std::string>> Issue(std::string owner);

  /// What a valid token says. kUnauthenticated: not a token of this installation, expired, or of an attempt
  /// that has ended.
  boost::asio::awaitable<Result<AccessToken>> Check(std::string token);

  /// What proves, beside the cookie that has this token, that a page of the console asks: nobody makes it of
  /// the token without the installation's secret.
  [[nodiscard]] std::string SessionSecret(std::string_view token) const;

 private:
  const Settings& settings_;
  const Clock& clock_;
  JobService& jobs_;
};

}  // namespace trainyard::control
