#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/access/audit_line.h"
#include "net/access/failed_logins.h"
#include "net/http/message.h"
#include "net/http/router.h"
#include "rules/iam/login.h"
#include "rules/iam/method_table.h"
#include "rules/iam/resource.h"

namespace trainyard::access {

/// What the door asks of those who know: who it is, and what they hold. Loop thread only.
class Authority {
 public:
  virtual ~Authority() = default;

  /// By the token that the request shows, else by its connection where connections say it. kUnauthenticated:
  /// nobody, or nobody that is known (iam::NotLoggedIn, iam::BadToken).
  virtual boost::asio::awaitable<Result<iam::Login>> WhoAsks(const http::Request& request) = 0;

  /// Whether what the login proves still holds: it has not expired, its token is not revoked, its attempt has
  /// not ended. From memory.
  virtual boost::asio::awaitable<bool> StillHolds(iam::Login login) const = 0;

  /// What a principal has on a resource.
  struct Standing {
    bool is_granted = false;  ///< the permission
    bool is_seen = false;     ///< it has some role there, so that a refusal may say that it is there
  };
  virtual boost::asio::awaitable<Standing> StandingOf(std::string principal, std::string permission,
                                                      iam::Resource resource) = 0;
};

// The WWW-Authenticate field of a 401. It has a realm, because httplib2 refuses a field without a parameter.
// Source: RFC 6750 section 3.

inline constexpr std::string_view kChallenge = R"(Bearer realm="trainyard")";  ///< nothing was shown
inline constexpr std::string_view kInvalidTokenChallenge =
    R"(Bearer realm="trainyard", error="invalid_token")";

/// The one place that every request passes after it was routed: who asks, what the route wants, the decision,
/// its line in the audit log. What a body names is asked for by handlers, through Request::caller. Loop
/// thread only. Outlives the routers that it guards.
class Door {
 public:
  struct Options {
    const iam::MethodTable& methods;  ///< the rules of all routes; outlives the door
    std::string default_project;      ///< of routes whose query names none
    AuditSink audit{};                ///< null: nothing is kept
    /// How a refusal looks to the clients of the route ("GET /storage/v1/b"). Null: an Error as always.
    std::function<http::Response(std::string_view route, const Error& error)> print_refusal{};
  };
  /// `authority` and `clock` outlive it.
  Door(Authority& authority, const Clock& clock, Options options);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// All handlers that the router has now run only for those who may. A CHECK: a route without a row in
  /// Options::methods.
  void Guard(http::Router& router);

  /// The decision alone, for what is passed on to elsewhere: `route` is the one that the request would have
  /// here, whose parameters it has. Sets request.caller. Audits refusals.
  boost::asio::awaitable<Status> Check(http::Request& request, std::string_view route);

 private:
  struct Decision;
  boost::asio::awaitable<Decision> Decide(const iam::MethodRule& rule, http::Request& request);
  boost::asio::awaitable<Result<http::Response>> Answer(const iam::MethodRule& rule,
                                                        const http::Handler& handler, http::Request& request);
  void Audit(const iam::MethodRule& rule, const http::Request& request, const Decision& decision, int status);
  http::Response Refused(const iam::MethodRule& rule, const http::Request& request, Error error) const;

  Authority& authority_;
  const Clock& clock_;
  Options options_;
  FailedLogins failed_logins_;
};

/// "192.0.2.7", behind a trusted proxy that of its client; "local" for a Unix socket; empty: not known.
[[nodiscard]] std::string AddressOf(const http::Request& request);

}  // namespace trainyard::access
