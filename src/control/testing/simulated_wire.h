#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>

#include "control/testing/simulated_server.h"
#include "control/testing/surroundings.h"
#include "engine/replica_link.h"

namespace trainyard::control {

/// The connections between supervisors and the server: hands frames to the server, when there is one, after a
/// while. A connection ends with its server. Loop thread only.
class SimulatedWire final : public engine::ReplicaLinkObserver {
 public:
  /// All outlive it.
  SimulatedWire(Surroundings& around, SimulatedServer& server, SimulatedRoom& room)
      : around_(around), server_(server), room_(room) {}

  Status OnHello(std::shared_ptr<engine::ReplicaLink> link, const engine::FromReplica::Hello& hello) override;
  boost::asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                       engine::FromReplica frame) override;
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override;

 private:
  [[nodiscard]] bool IsOpen(const engine::ReplicaLink* link) const;

  Surroundings& around_;
  SimulatedServer& server_;
  SimulatedRoom& room_;
  std::map<const engine::ReplicaLink*, int> life_of_;  ///< which server accepted the connection
};

}  // namespace trainyard::control
