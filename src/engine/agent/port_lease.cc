#include "engine/agent/port_lease.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "rules/placement/plan.h"

namespace trainyard::agent {

namespace {

constexpr int kPortCount = placement::kLeasePortLast - placement::kLeasePortFirst + 1;

/// Binds the name of the port; empty: another process has it. Source: unix(7), "abstract".
UniqueFd BindName(int port) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return {};
  const std::string name = "trainyard-port-" + std::to_string(port);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
}

}  // namespace

std::optional<PortLease> PortLease::Take(std::uint32_t start, const Probe& is_free) {
  for (int tried = 0; tried < kPortCount; ++tried) {
    const auto step = static_cast<int>((start + static_cast<std::uint32_t>(tried)) % kPortCount);
    const int port = placement::kLeasePortFirst + step;
    UniqueFd socket = BindName(port);
    if (socket && is_free(port)) return PortLease(port, std::move(socket));
  }
  return std::nullopt;
}

}  // namespace trainyard::agent
