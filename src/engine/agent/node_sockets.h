#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "engine/local/front_sockets.h"
#include "net/http/listening_socket.h"

namespace trainyard::agent {

/// The listening sockets to which supervisors and replicas of the slot connect instead of to the server: the
/// same ones as on the server's machine (docs/adr/0022).
struct NodeSockets {
  http::ListeningSocket attach;               ///< run/attach.sock
  http::ListeningSocket replica;              ///< run/replica.sock
  http::ListeningSocket replica_tcp;          ///< a port of the loopback, for replicas without namespaces
  http::ListeningSocket front_tls;            ///< run/front-tls.sock
  http::ListeningSocket front_plain;          ///< run/front.sock
  std::optional<engine::FrontSockets> front;  ///< empty: none is possible here
  /// A proxy for downloads of builds on a node without a route to the internet; empty: the node has one.
  std::optional<http::ListeningSocket> outside;

  /// Binds the same ports and front address as before if they are free, since living replicas use them. A
  /// front that cannot be bound is reported in a message; it is no error. `doors_lacking`: why connections
  /// cannot be redirected to other ports; empty: they can. Blocking.
  [[nodiscard]] static Result<NodeSockets> Bind(const std::string& run_dir, const std::string& doors_lacking);
};

}  // namespace trainyard::agent
