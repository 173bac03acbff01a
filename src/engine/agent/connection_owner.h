#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <string>

#include "net/access/peer_uid.h"
#include "net/http/peer.h"
#include "programs/runtimes/attempt_processes.h"

namespace trainyard::agent {

/// Finds out, from the node's kernel, which account or attempt a connection to one of the agent's sockets
/// belongs to. Loop thread; processes are inspected on a pool.
class ConnectionOwner {
 public:
  explicit ConnectionOwner(std::string attempts_dir) : attempts_dir_(std::move(attempts_dir)) {}

  /// Whether the connection is from the agent's account or root: then it may be a supervisor's. The server
  /// checks which attempt the supervisor belongs to.
  [[nodiscard]] bool IsOwn(const http::Peer& peer) const;
  /// The living attempt on this node one of whose processes (the supervisor is one of them) made the
  /// connection. The process is what counts, not its account: other processes of the same account are
  /// rejected.
  boost::asio::awaitable<std::optional<std::string>> AttemptOf(http::Peer peer);
  /// Whether the attempt's program made the connection, and not a process that prepares the attempt.
  boost::asio::awaitable<bool> IsOfProgram(std::string attempt_id, http::Peer peer);

 private:
  [[nodiscard]] replica::ConnectionEnd EndOf(const http::Peer& peer) const;

  std::string attempts_dir_;
  access::PeerUids peers_;
  boost::asio::thread_pool looks_{1};
};

}  // namespace trainyard::agent
