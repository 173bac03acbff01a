#include "engine/local/port_leases.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

#include "base/async/unique_fd.h"
#include "rules/placement/plan.h"

namespace trainyard::engine {

namespace {

constexpr int kPortCount = placement::kLeasePortLast - placement::kLeasePortFirst + 1;

}  // namespace

PortLeases::PortLeases(Probe probe, std::uint32_t spread)
    : probe_(std::move(probe)), next_(placement::kLeasePortFirst + static_cast<int>(spread % kPortCount)) {}

std::optional<int> PortLeases::Lease() {
  for (int tried = 0; tried < kPortCount; ++tried) {
    const int port = next_;
    next_ = port == placement::kLeasePortLast ? placement::kLeasePortFirst : port + 1;
    if (leased_.contains(port) || !probe_(port)) continue;
    leased_.insert(port);
    return port;
  }
  return std::nullopt;
}

void PortLeases::Release(const std::vector<int>& ports) {
  for (const int port : ports) leased_.erase(port);
}

bool IsPortFree(int port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

}  // namespace trainyard::engine
