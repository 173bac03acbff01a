#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "engine/local/front_sockets.h"
#include "net/http/listening_socket.h"

namespace trainyard::agent {

/// Where supervisors and replicas of the slot connect, instead of to the server: the same sockets as on the
/// server's machine (docs/adr/0022), listening.
struct NodeSockets {
  http::ListeningSocket attach;               ///< run/attach.sock
  http::ListeningSocket replica;              ///< run/replica.sock
  http::ListeningSocket replica_tcp;          ///< a port of the loopback, for replicas without namespaces
  http::ListeningSocket front_tls;            ///< run/front-tls.sock
  http::ListeningSocket front_plain;          ///< run/front.sock
  std::optional<engine::FrontSockets> front;  ///< nothing: it cannot be had
  /// A proxy for what builds fetch, on a node that has no way out of its own; nothing: it has one.
  std::optional<http::ListeningSocket> outside;

  /// Ports and the front's address are those that were bound here before, if they are to be had: living
  /// replicas know them. A front that cannot be had is said, and no error. `doors_lacking`: why connections
  /// cannot be led to other ports; empty: they can. Blocking.
  [[nodiscard]] static Result<NodeSockets> Bind(const std::string& run_dir, const std::string& doors_lacking);
};

}  // namespace trainyard::agent
