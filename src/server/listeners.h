#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "api/google_front.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "engine/remote/agent_session.h"
#include "net/front/real_buckets.h"
#include "net/http/router.h"
#include "net/http/server.h"
#include "server/bound_sockets.h"
#include "server/options/serve_options.h"

namespace trainyard::server {

struct Installation;

/// All sockets of an installation. Each purpose has an http::Server, so that the socket determines which
/// routes exist on it: routes.cc. Loop thread only; the same lifecycle as http::Server. docs/adr/0022.
class Listeners {
 public:
  /// Serves clients and replicas on the sockets. `options` and `installation` outlive it. Errors: a file
  /// cannot be read or created.
  [[nodiscard]] static Result<std::unique_ptr<Listeners>> Open(boost::asio::io_context& loop,
                                                               const ServeOptions& options,
                                                               Installation& installation,
                                                               BoundSockets sockets,
                                                               sockets::KeptSockets& kept);
  ~Listeners();
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  /// Accepts supervisors, and agents on other machines. Call it once the installation knows their attempts.
  [[nodiscard]] Status LetSupervisorsIn();

  void Stop();
  [[nodiscard]] std::size_t connection_count() const noexcept;

 private:
  Listeners(boost::asio::io_context& loop, const ServeOptions& options, Installation& installation,
            std::unique_ptr<front::RealBuckets> real_buckets);
  std::unique_ptr<api::GoogleFront> MakeFront(boost::asio::io_context& loop, bool is_for_users,
                                              const tls::TlsIdentity& identity);
  void Relay(engine::RelayedConnection connection, std::shared_ptr<mux::Stream> stream);
  Status ReloadCertificate(const tls::TlsIdentity& own);
  Status OpenFronts(boost::asio::io_context& loop, BoundSockets& sockets, sockets::KeptSockets& kept);

  const ServeOptions& options_;
  Installation& installation_;
  std::unique_ptr<front::RealBuckets> real_buckets_;
  const http::Router administration_routes_;  ///< include the real buckets, if there are any
  const http::Router replica_routes_;         ///< the same
  http::Server administration_;               ///< users and their clients: TCP, TLS, DATA/run/admin.sock
  http::Server replicas_;                     ///< training programs: TCP, DATA/run/replica.sock
  http::Server supervisors_;                  ///< `trainyard replica`: DATA/run/attach.sock
  std::unique_ptr<api::GoogleFront> front_;
  std::unique_ptr<api::GoogleFront> workstation_;
  http::Router metrics_routes_;
  std::optional<http::Server> metrics_;  ///< none: it is turned off
  std::vector<http::Server*> servers_;   ///< all of the above
  TaskGroup relays_;
};

}  // namespace trainyard::server
