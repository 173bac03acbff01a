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

}  // namespace trainyard::sockets
