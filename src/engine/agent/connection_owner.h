#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <string>

#include "net/access/peer_uid.h"
#include "net/http/peer.h"
#include "programs/runtimes/attempt_processes.h"

namespace trainyard::agent {

/// Whose a connection to one of the agent's sockets is, as the node's kernel tells. Loop thread; looking at
/// processes is a pool's work.
class ConnectionOwner {
 public:
  explicit ConnectionOwner(std::string attempts_dir) : attempts_dir_(std::move(attempts_dir)) {}

  /// Whether it is of the agent's account or root's: then it may be a supervisor's, which has to prove to the
  /// server whose it is.
  [[nodiscard]] bool IsOwn(const http::Peer& peer) const;
  /// The attempt that lives here and one of whose processes, its supervisor included, made the connection.
  /// Whose account that is does not matter: no other process of the account gets through.
  boost::asio::awaitable<std::optional<std::string>> AttemptOf(http::Peer peer);
  /// Whether it is of the attempt's program, and not of what prepares it.
  boost::asio::awaitable<bool> IsOfProgram(std::string attempt_id, http::Peer peer);

 private:
  [[nodiscard]] replica::ConnectionEnd EndOf(const http::Peer& peer) const;

  std::string attempts_dir_;
  access::PeerUids peers_;
  boost::asio::thread_pool looks_{1};
};

}  // namespace trainyard::agent
