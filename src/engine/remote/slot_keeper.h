#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "mux/session.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// Which agents may come: an allocator of a cluster, whose grants have them. Loop thread only.
/// Implementation: SlurmAllocator.
class SlotKeeper {
 public:
  virtual ~SlotKeeper() = default;
  /// The first agent that comes with a valid ticket has the slot, for good, and may come back: its name, once
  /// that is durable. kPermissionDenied: another one has it, or the ticket is void; the agent is to end.
  /// Other errors pass: it is to come again.
  virtual boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello) = 0;
  virtual void OnAttached(const std::string& agent) = 0;
  virtual void OnDetached(const std::string& agent, mux::Ending ending) = 0;
  /// The cluster's time limit is near: the agent stops what runs, and ends.
  virtual void OnTimeLimit(const std::string& agent) = 0;
  /// Agents of that name may be there, or come back.
  [[nodiscard]] virtual bool MayLive(const std::string& agent) const = 0;
};

}  // namespace trainyard::engine
