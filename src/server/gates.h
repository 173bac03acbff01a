#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <string>

#include "engine/local/attempt_accounts.h"
#include "net/access/gate.h"
#include "net/access/peer_uid.h"
#include "net/sockets/socket_owners.h"
#include "server/options/serve_options.h"

namespace trainyard::server {

/// Who may ask where: one gate for each purpose of a listener. Loop thread. Outlives the servers that have
/// its gates.
class Gates {
 public:
  /// `pool` and `options` outlive it. Says in a line when the server is open to all accounts.
  Gates(const ServeOptions& options, boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
        const std::string& attempts_dir);

  /// For http::ServerOptions::uid_of.
  [[nodiscard]] const access::PeerUids& uids() const noexcept { return uids_; }
  /// Users and supervisors: the server's account and root.
  [[nodiscard]] const access::Gate& administration() const noexcept { return administration_; }
  /// Training programs: the same, and the accounts that attempts run as.
  [[nodiscard]] const access::Gate& replicas() const noexcept { return replicas_; }
  /// As for replicas, also under Google's names.
  [[nodiscard]] const access::Gate& front() const noexcept { return front_; }
  /// As for users, also under Google's names: `trainyard with`.
  [[nodiscard]] const access::Gate& workstation() const noexcept { return workstation_; }

 private:
  access::PeerUids uids_;
  engine::AttemptAccounts attempts_;
  sockets::SocketOwners owners_;
  access::Gate administration_;
  access::Gate replicas_;
  access::Gate front_;
  access::Gate workstation_;
};

}  // namespace trainyard::server
