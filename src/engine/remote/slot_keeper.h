#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "net/mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// The address that an agent's connection comes from, and whether the connection is still open: TakeSlot may
/// take a while.
struct AgentOrigin {
  boost::asio::ip::address from;
  std::function<bool()> is_there;
};

/// Decides which agents are accepted: implemented by the engine of a cluster, whose grants start agents. Loop
/// thread only. Implementation: SlurmEngine.
class SlotKeeper {
 public:
  virtual ~SlotKeeper() = default;
  /// The first agent with a valid ticket that connects from the node where the cluster placed the slot gets
  /// the slot permanently, and may reconnect. Returns its name, once that is durable. An agent that has
  /// disconnected meanwhile gets no slot. kPermissionDenied: another agent has the slot, the ticket is void
  /// or the node is another one; the agent must end. Other errors are temporary: the agent should try again.
  virtual boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello,
                                                               AgentOrigin origin) = 0;
  virtual void OnAttached(const std::string& agent) = 0;
  virtual void OnDetached(const std::string& agent, mux::Ending ending) = 0;
  /// The cluster's time limit is near: the agent stops its programs, and ends.
  virtual void OnTimeLimit(const std::string& agent) = 0;
  /// Whether the agent of that name may be alive, or come back.
  [[nodiscard]] virtual bool MayLive(const std::string& agent) const = 0;
};

}  // namespace trainyard::engine
