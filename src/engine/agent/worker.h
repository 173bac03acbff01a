#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/agent/arguments.h"
#include "engine/agent/node_facts.h"
#include "engine/agent/node_folder.h"
#include "engine/agent/node_sockets.h"

namespace trainyard::agent {

/// Exit status of an agent that the server rejected: it must not be started again. Source: sysexits.h,
/// EX_TEMPFAIL.
inline constexpr int kExitRefused = 75;

/// What an agent knows from its start on, and keeps when its worker is restarted.
struct Identity {
  Arguments arguments;
  std::string ticket;
  std::string instance;          ///< random: the same for all workers of this agent
  std::optional<SysTime> until;  ///< the cluster's time limit
  NodeFacts facts;
  int port = 0;      ///< leased
  int complain = 2;  ///< descriptor for messages to whoever started the agent
};

/// Does the agent's work until its end. Call it in a process that the watcher forked, which still has one
/// thread. SIGTERM and kNoticeSignal end it. It cleans nothing up: its process exits afterwards.
/// @return the agent's exit status
[[nodiscard]] int Work(const Identity& identity, const NodeFolder& folder, NodeSockets sockets);

}  // namespace trainyard::agent
