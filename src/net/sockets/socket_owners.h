#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/async/event.h"
#include "net/access/peer_uid.h"
#include "net/http/peer.h"

namespace trainyard::sockets {

/// Whether a process has the other end of a connection. The kernel knows the account of a socket that no
/// process has, too: a program may send it in a message that nobody receives and close its own, and what it
/// wrote before is sent all the same. Loop thread only; looking at the machine's processes is a pool's work,
/// one look for all who ask meanwhile. Outlives who asks.
class SocketOwners {
 public:
  /// `pool` and `peers` outlive it.
  SocketOwners(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
               const access::PeerUids& peers)
      : pool_(pool), peers_(peers), ended_(std::move(loop)) {}

  /// Asked once for each connection: the process is noted in `peer`, which lives until the answer. Who passes
  /// an open connection on afterwards acts for whoever uses it, as if it forwarded their requests. True for
  /// Unix sockets, and where the account has a process that this one may not look at: to a server that is not
  /// root, other accounts' are so, and sshd's of a tunnel.
  boost::asio::awaitable<bool> Has(http::Peer& peer);

 private:
  struct Question {
    std::uint32_t socket = 0;
    std::optional<std::uint32_t> uid{};  ///< who made it
    std::int32_t owner = 0;              ///< a process; 0: there is none
    bool is_answered = false;
  };
  boost::asio::awaitable<void> Look();

  boost::asio::thread_pool& pool_;
  const access::PeerUids& peers_;
  std::vector<std::shared_ptr<Question>> questions_;  ///< shared: who asked may be gone before the answer
  std::vector<std::int32_t> recent_;  ///< processes that had a connection lately, the last one first
  bool looking_ = false;
  Event ended_;  ///< a look
};

}  // namespace trainyard::sockets
