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

/// Exit status of an agent that the server refused: it is not to come again. Source: sysexits.h,
/// EX_TEMPFAIL.
inline constexpr int kExitRefused = 75;

/// What an agent knows from its first moment, and keeps over restarts of its worker.
struct Identity {
  Arguments arguments;
  std::string ticket;
  std::string instance;          ///< random: the same for all workers of this agent
  std::optional<SysTime> until;  ///< the cluster's time limit
  NodeFacts facts;
  int port = 0;      ///< leased
  int complain = 2;  ///< descriptor for a line that whoever started the agent is to see
};

/// The agent's work until its end, in a process that the watcher forked: one thread yet. SIGTERM and
/// kNoticeSignal end it. It leaves the cleaning up to the end of its process.
/// @return the agent's exit status
[[nodiscard]] int Work(const Identity& identity, const NodeFolder& folder, NodeSockets sockets);

}  // namespace trainyard::agent
