#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http/listening_socket.h"
#include "rules/slurm/engine_options.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// Where agents reach this server.
struct AgentsAddress {
  std::string host;  ///< numeric
  http::ListeningSocket socket;
};

/// Listens there: as the options say, else at the machine's own address on the way to the cluster's nodes.
/// Address and port are kept in the file, so that agents find the next server. Blocking: may ask for names.
/// `nodes`: those of the cluster; empty: Slurm does not answer. kFailedPrecondition: no address is known, and
/// what to name; else the port's errors.
[[nodiscard]] Result<AgentsAddress> ListenForAgents(const slurm::EngineOptions& options,
                                                    const std::string& kept_in,
                                                    std::span<const slurm::Node> nodes);

/// The numeric address that this machine uses to reach one of the hosts; empty: none of them is known to it.
[[nodiscard]] std::string OwnAddressTowards(const std::vector<std::string>& hosts);

}  // namespace trainyard::engine
