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

namespace trainyard::api {

/// What a browser's login is made of. What is referred to outlives it.
struct Sessions {
  identity::Identities& identities;
  const Clock& clock;
  bool auth = false;                       ///< who asks has to log in
  std::vector<std::string> own_audiences;  ///< see stores/identity/jwt_rules.h
  std::string version;                     ///< of the server
  /// What proves, beside the cookie with this token, that a page of the console asks.
  std::function<std::string(std::string_view token)> secret_of;
  access::AuditSink audit{};  ///< logins, and what was refused
  /// The project of the newest job that the principal may see (empty: nobody is asked who they are); empty:
  /// there is none.
  std::function<boost::asio::awaitable<std::string>(std::string principal)> newest_project;
  access::FailedLogins failed{};
};

/// How long a browser stays logged in, if the token that it showed lives as long.
inline constexpr std::chrono::seconds kSessionLife = std::chrono::days(7);

/// /trainyard/v1/session (session.proto): GET says who asks; POST exchanges a token for a cookie
/// (net/access/session_cookie.h) with a token of its own, which ends with the one that was shown, and the
/// secret that changing takes beside it; DELETE, which takes it too, ends it. Logins, failed ones and their
/// ends are audited; failed ones, of GET too, are slowed down as the door's are, because nobody is asked
/// before who they are. Loop thread only.
Waits<Sessions> GetSession, LogIn, LogOut;

}  // namespace trainyard::api
