#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "net/http/router.h"
#include "trainyard/control/v1/admin.pb.h"

namespace trainyard::api {

/// What an operator asks of a running server. Loop thread only.
class Administration {
 public:
  virtual ~Administration() = default;

  [[nodiscard]] virtual boost::asio::awaitable<control::v1::AdminStatus> Status() = 0;
  /// Durable when it returns. `by`: who asks.
  [[nodiscard]] virtual boost::asio::awaitable<Result<control::v1::Drain>> SetDrain(bool on,
                                                                                    std::string by) = 0;
  /// Whether the request comes by the server's own socket, from root or the server's account, and from no
  /// program of a job.
  [[nodiscard]] virtual boost::asio::awaitable<bool> IsFromMachine(const http::Request& request) const = 0;
  /// Begins a backup and returns. kAborted: one is under way; kFailedPrecondition, kInvalidArgument: only who
  /// asks from the machine names any folder (backup::AllowedPlace). What else is wrong with the request is in
  /// the backup's own state, as all that goes wrong later.
  [[nodiscard]] virtual Result<control::v1::Backup> BeginBackup(control::v1::BackupRequest request,
                                                                bool from_machine) = 0;
  [[nodiscard]] virtual control::v1::Backup LastBackup() const = 0;
  /// Reads again what can be read again while the server runs. kFailedPrecondition: what could not be, and
  /// why; the rest was.
  [[nodiscard]] virtual boost::asio::awaitable<Result<control::v1::Reload>> Reload() = 0;
  [[nodiscard]] virtual boost::asio::awaitable<control::v1::Readiness> CheckReady() = 0;
  /// The name of who sent the request, for the record and for others to read.
  [[nodiscard]] virtual std::string WhoAsks(const http::Request& request) const = 0;
};

/// GET /trainyard/v1/admin/status, POST .../drain {"on": true}, POST and GET .../backup, POST .../reload.
/// `administration` outlives the router. Source: docs/operators.md.
void AddAdminRoutes(http::Router& router, Administration& administration);

/// GET /readyz: 200 if the server can take jobs, else 503; a Readiness either way.
void AddReadyRoute(http::Router& router, Administration& administration);

}  // namespace trainyard::api
