#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace trainyard::engine {

/// Which ports of this machine are leased to replicas. One thread.
class PortLeases {
 public:
  /// Whether nothing on this machine listens on the TCP port.
  using Probe = std::function<bool(int port)>;

  /// `spread`: leases begin there, whatever it is: servers of one machine that use different numbers do not
  /// lease the same port in the time between the probe and the replica's own listening.
  explicit PortLeases(Probe probe, std::uint32_t spread = 0);

  /// A free port that nobody has; nothing: all are taken.
  [[nodiscard]] std::optional<int> Lease();
  /// A port that a previous server leased.
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
