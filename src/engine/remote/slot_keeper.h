#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "net/mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// Where an agent's connection comes from, and whether it is still there: who asks may have to wait.
struct AgentOrigin {
  boost::asio::ip::address from;
  std::function<bool()> is_there;
};

/// Which agents may come: the engine of a cluster, whose grants have them. Loop thread only.
/// Implementation: SlurmEngine.
class SlotKeeper {
 public:
  virtual ~SlotKeeper() = default;
  /// The first agent that comes with a valid ticket, from the place where the cluster says that the slot is,
  /// has the slot, for good, and may come back: its name, once that is durable. Who has gone meanwhile gets
  /// none. kPermissionDenied: another one has it, the ticket is void or the place is another; the agent is to
  /// end. Other errors pass: it is to come again.
  virtual boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello,
                                                               AgentOrigin origin) = 0;
  virtual void OnAttached(const std::string& agent) = 0;
  virtual void OnDetached(const std::string& agent, mux::Ending ending) = 0;
  /// The cluster's time limit is near: the agent stops what runs, and ends.
  virtual void OnTimeLimit(const std::string& agent) = 0;
  /// Agents of that name may be there, or come back.
  [[nodiscard]] virtual bool MayLive(const std::string& agent) const = 0;
};

}  // namespace trainyard::engine
