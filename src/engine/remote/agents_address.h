#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http/listening_socket.h"
#include "rules/slurm/engine_options.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// The address at which agents reach this server.
struct AgentsAddress {
  std::string host;  ///< numeric
  http::ListeningSocket socket;
};

/// Listens for agents at the address that the options name, otherwise at this machine's address on the route
/// to the cluster's nodes. Address and port are recorded in the file `kept_in`, so that agents find the next
/// server. Blocking: it may resolve names. `nodes`: those of the cluster; empty: Slurm does not answer.
/// kFailedPrecondition: no address is known; the message says which option to set. Other errors: the port
/// cannot be bound.
[[nodiscard]] Result<AgentsAddress> ListenForAgents(const slurm::EngineOptions& options,
                                                    const std::string& kept_in,
                                                    std::span<const slurm::Node> nodes);

/// The numeric address that this machine uses to reach one of the hosts; empty: it cannot resolve any of
/// them.
[[nodiscard]] std::string OwnAddressTowards(const std::vector<std::string>& hosts);

}  // namespace trainyard::engine
