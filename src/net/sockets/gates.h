#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "net/access/gate.h"
#include "net/access/peer_uid.h"
#include "net/sockets/socket_owners.h"

namespace trainyard::sockets {

/// The access rules of each listener: one gate for each purpose. Loop thread. Outlives the servers that use
/// its gates.
class Gates {
 public:
  struct Options {
    std::string host;                     ///< where the server listens
    std::vector<std::string> host_names;  ///< further names that it accepts
    bool local_users = false;             ///< every account of this machine has access
    bool auth = false;                    ///< clients have to log in
    access::TrustedProxies proxies;
    std::optional<access::UidRange> job_uids;  ///< the uids that jobs run as
    /// Whether a live attempt runs as the account. Outlives the gates.
    std::function<boost::asio::awaitable<bool>(std::uint32_t uid)> is_attempt_uid;
  };
  /// `pool` outlives it. Logs a line if the server is open to all accounts.
  Gates(const Options& options, boost::asio::any_io_executor loop, boost::asio::thread_pool& pool);

  /// For http::ServerOptions::uid_of.
  [[nodiscard]] const access::PeerUids& uids() const noexcept { return uids_; }
  /// Users and supervisors: the server's account and root.
  [[nodiscard]] const access::Gate& administration() const noexcept { return administration_; }
  /// Training programs: the same, and the accounts that attempts run as.
  [[nodiscard]] const access::Gate& replicas() const noexcept { return replicas_; }
  /// Like replicas(), also under Google's names.
  [[nodiscard]] const access::Gate& front() const noexcept { return front_; }
  /// Like administration(), also under Google's names: for `trainyard with`.
  [[nodiscard]] const access::Gate& workstation() const noexcept { return workstation_; }

 private:
  access::PeerUids uids_;
  SocketOwners owners_;
  access::Gate administration_;
  access::Gate replicas_;
  access::Gate front_;
  access::Gate workstation_;
};

}  // namespace trainyard::sockets
