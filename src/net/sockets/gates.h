#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "net/access/gate.h"
#include "net/access/peer_uid.h"
#include "net/http/peer.h"

namespace trainyard::sockets {

/// Finds out whether a live process owns the other end of a connection. The kernel also reports an account
/// for a socket without a process: a program may send the socket in a message that nobody receives and close
/// its own copy, and the bytes it wrote before are still delivered. Loop thread only; the machine's processes
/// are read on the pool, once for all questions that arrive meanwhile. Outlives its callers.
class SocketOwners {
 public:
  /// `pool` and `peers` outlive it.
  SocketOwners(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
               const access::PeerUids& peers)
      : pool_(pool), peers_(peers), ended_(std::move(loop)) {}

  /// Call it once per connection: the process is stored in `peer`, which must live until this returns. A
  /// process that gives an open connection away afterwards acts for its new owner, as if it forwarded the
  /// requests. True for Unix sockets, and if the account has a process that this server may not inspect:
  /// without root these are processes of other accounts, and sshd's for a tunnel.
  boost::asio::awaitable<bool> Has(http::Peer& peer);

 private:
  struct Question {
    std::uint32_t socket = 0;
    std::optional<std::uint32_t> uid{};  ///< who created the socket
    std::int32_t owner = 0;              ///< a process; 0: there is none
    bool is_answered = false;
  };
  boost::asio::awaitable<void> Look();

  boost::asio::thread_pool& pool_;
  const access::PeerUids& peers_;
  std::vector<std::shared_ptr<Question>> questions_;  ///< shared: the caller may be gone before the answer
  std::vector<std::int32_t> recent_;  ///< processes that had a connection recently, the latest first
  bool looking_ = false;
  Event ended_;  ///< a look
};

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
