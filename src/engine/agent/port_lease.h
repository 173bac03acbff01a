#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/async/unique_fd.h"

namespace trainyard::agent {

/// A TCP port of the node that no other agent has, of whatever account and installation: the name of an
/// abstract Unix socket, which the kernel gives to one process and takes back when that ends. The destructor
/// gives it back.
class PortLease {
 public:
  /// Whether nothing listens on the port (engine::IsPortFree).
  using Probe = std::function<bool(int port)>;

  /// The first port of placement's range from `start` on, round its end, that is leased to nobody and free;
  /// nothing: there is none.
  [[nodiscard]] static std::optional<PortLease> Take(std::uint32_t start, const Probe& is_free);

  [[nodiscard]] int port() const noexcept { return port_; }

 private:
  PortLease(int port, UniqueFd socket) : port_(port), socket_(std::move(socket)) {}

  int port_;
  UniqueFd socket_;
};

}  // namespace trainyard::agent
