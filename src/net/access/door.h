#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "net/access/audit_line.h"
#include "net/access/authority.h"
#include "net/access/failed_logins.h"
#include "net/http/router.h"
#include "rules/iam/method_table.h"

namespace trainyard::access {

/// The one place that every request passes after it was routed: who asks, what the route wants, the decision,
/// its line in the audit log. What a body names is asked for by handlers, through Request::caller. Loop
/// thread only. Outlives the routers that it guards.
class Door {
 public:
  struct Options {
    std::string default_project;  ///< of routes whose query names none
    AuditSink audit{};            ///< null: nothing is kept
    /// How a refusal looks to the clients of the route ("GET /storage/v1/b"). Null: an Error as always.
    std::function<http::Response(std::string_view route, const Error& error)> print_refusal{};
  };
  /// `authority` and `clock` outlive it.
  Door(Authority& authority, const Clock& clock, Options options);
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// All handlers that the router has now run only for those who may. A CHECK: a route without a row in
  /// iam::MethodTable.
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
