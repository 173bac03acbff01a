#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.h"
#include "net/access/audit_line.h"
#include "net/access/failed_logins.h"
#include "stores/identity/identities.h"

namespace trainyard {
class Clock;
}  // namespace trainyard

namespace trainyard::control {
class JobService;
}  // namespace trainyard::control

namespace trainyard::api {

/// Finds the project of the newest job that the principal (empty: without authentication) may see; empty:
/// there is none.
using NewestProject = std::function<boost::asio::awaitable<std::string>(std::string principal)>;
/// Both outlive the result.
[[nodiscard]] NewestProject NewestProjects(control::JobService& jobs, const identity::Identities& known);

/// The data for browser logins. What is referred to outlives it.
struct Sessions {
  identity::Identities& identities;
  const Clock& clock;
  bool auth = false;                       ///< callers have to log in
  std::vector<std::string> own_audiences;  ///< see stores/identity/jwt_rules.h
  std::string version;                     ///< of the server
  /// The value that proves, in addition to the cookie with this token, that the request comes from a page of
  /// the console.
  std::function<std::string(std::string_view token)> secret_of;
  access::AuditSink audit{};  ///< for logins and refusals
  NewestProject newest_project;
  access::FailedLogins failed{};
};

/// How long a browser stays logged in, unless the token with which it logged in expires earlier.
inline constexpr std::chrono::seconds kSessionLife = std::chrono::days(7);

/// /trainyard/v1/session (session.proto): GET returns the caller; POST exchanges a token for a cookie
/// (net/access/session_cookie.h) with another token, which ends with the first one, and the secret that
/// changes require in addition; DELETE, which requires it too, ends the session. Logins, failed ones and
/// logouts are audited; failed ones, also of GET, are slowed down as on other routes, because callers are not
/// authenticated before. Loop thread only.
Waits<Sessions> GetSession, LogIn, LogOut;

}  // namespace trainyard::api
