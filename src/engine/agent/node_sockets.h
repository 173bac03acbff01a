#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "engine/agent/node_facts.h"
#include "engine/local/google_front_files.h"
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
  bool has_names = false;  ///< the front is where the node's hosts file leads Google's names
  /// A proxy for downloads of builds on a node that does not reach the package index itself; empty: it does.
  std::optional<http::ListeningSocket> outside;

  /// Binds the same ports and front address as before if they are free, since living replicas use them. A
  /// front that cannot be bound is reported in a message; it is no error. Blocking.
  /// @param front_address  where the front is tried first; empty: where it was before, or anywhere
  [[nodiscard]] static Result<NodeSockets> Bind(const std::string& run_dir, const NodeFacts& facts,
                                                const std::string& front_address = {});
};

/// A lease on a TCP port of the node: no other agent of any account or installation has the same port. The
/// lease is an abstract Unix socket with the port in its name, which the kernel lets only one process bind
/// and removes when that process ends. The destructor releases the lease.
class PortLease {
 public:
  /// Whether nothing listens on the port (engine::IsPortFree).
  using Probe = std::function<bool(int port)>;

  /// Leases the first free port of placement's range that nobody has leased, beginning at `start` and
  /// wrapping around at the end of the range; empty: there is none.
  [[nodiscard]] static std::optional<PortLease> Take(std::uint32_t start, const Probe& is_free);

  [[nodiscard]] int port() const noexcept { return port_; }

 private:
  PortLease(int port, UniqueFd socket) : port_(port), socket_(std::move(socket)) {}

  int port_;
  UniqueFd socket_;
};

}  // namespace trainyard::agent
