#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/async/unique_fd.h"

namespace trainyard::agent {

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
