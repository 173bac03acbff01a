#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "http/listening_socket.h"

namespace trainyard::agent {

/// Where supervisors and replicas of the slot connect, instead of to the server: the same sockets as on the
/// server's machine (docs/adr/0022), listening.
struct NodeSockets {
  http::ListeningSocket attach;       ///< run/attach.sock
  http::ListeningSocket replica;      ///< run/replica.sock
  http::ListeningSocket replica_tcp;  ///< a port of the loopback, for replicas without namespaces

  /// The port is the one that was bound here before, if it is to be had: a living replica's variables name
  /// it. Blocking.
  [[nodiscard]] static Result<NodeSockets> Bind(const std::string& run_dir);
};

}  // namespace trainyard::agent
