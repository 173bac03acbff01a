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

/// Answers the door's questions: who the caller is, and which permissions it has. Loop thread only.
class Authority {
 public:
  virtual ~Authority() = default;

  /// Finds the caller by the request's token, or else by its connection if connections identify callers.
  /// kUnauthenticated: there is no credential, or it is not valid (iam::NotLoggedIn, iam::BadToken).
  virtual boost::asio::awaitable<Result<iam::Login>> WhoAsks(const http::Request& request) = 0;

  /// Whether the login is still valid: it has not expired, its token is not revoked, its attempt has not
  /// ended. Reads memory only.
  virtual boost::asio::awaitable<bool> StillHolds(iam::Login login) const = 0;

  /// A principal's access to a resource.
  struct Standing {
    bool is_granted = false;  ///< it has the permission
    bool is_seen = false;     ///< it has some role there, so a refusal may reveal that the resource exists
  };
  virtual boost::asio::awaitable<Standing> StandingOf(std::string principal, std::string permission,
                                                      iam::Resource resource) = 0;
};

// Values of the WWW-Authenticate field of a 401. They have a realm because httplib2 refuses a field without
// parameters. Source: RFC 6750 section 3.

inline constexpr std::string_view kChallenge = R"(Bearer realm="trainyard")";  ///< no credential was sent
inline constexpr std::string_view kInvalidTokenChallenge =
    R"(Bearer realm="trainyard", error="invalid_token")";

/// Checks every request after routing: identifies the caller, looks up the permission that the route needs,
/// decides, and writes the audit line. Handlers check the resources that a body names themselves, through
/// Request::caller. Loop thread only. Outlives the routers that it guards.
class Door {
 public:
  struct Options {
    const iam::MethodTable& methods;  ///< the rules of all routes; outlives the door
    std::string default_project;      ///< used if the query of a route names none
    AuditSink audit{};                ///< null: nothing is logged
    /// Prints a refusal in the form that clients of the route ("GET /storage/v1/b") expect. Null: as any
    /// other Error.
    std::function<http::Response(std::string_view route, const Error& error)> print_refusal{};
  };
  /// `authority` and `clock` outlive the door.
  Door(Authority& authority, const Clock& clock, Options options);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// Wraps all handlers that the router has now: they run only if access is granted. A CHECK fails if a route
  /// has no row in Options::methods.
  void Guard(http::Router& router);

  /// Decides without running a handler, for requests that are forwarded to another server. `route` is the
  /// route that the request would have here; the request has the parameters of this route. Sets
  /// request.caller. Audits refusals.
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

/// The client's address ("192.0.2.7"), also behind a trusted proxy; "local" for a Unix socket; empty if
/// unknown.
[[nodiscard]] std::string AddressOf(const http::Request& request);

}  // namespace trainyard::access
