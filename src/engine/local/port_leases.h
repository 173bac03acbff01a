#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace trainyard::engine {

/// The ports of this machine that are leased to replicas. One thread.
class PortLeases {
 public:
  /// Whether nothing on this machine listens on the TCP port.
  using Probe = std::function<bool(int port)>;

  /// `spread`: any number; it determines the first port to lease. Servers of one machine that use different
  /// numbers do not lease the same port between the probe and the moment when the replica listens.
  explicit PortLeases(Probe probe, std::uint32_t spread = 0);

  /// Leases a free port; empty: all are taken.
  [[nodiscard]] std::optional<int> Lease();
  /// Marks a port as leased that a previous server leased.
  void Restore(int port) { leased_.insert(port); }
  void Release(const std::vector<int>& ports);

 private:
  Probe probe_;
  std::set<int> leased_;
  int next_;
};

/// Binds the port on all addresses for a moment. The real Probe.
[[nodiscard]] bool IsPortFree(int port);

}  // namespace trainyard::engine
