#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http/listening_socket.h"
#include "rules/slurm/node_list.h"
#include "server/cluster/engine_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// Where agents reach this server.
struct AgentsAddress {
  std::string host;  ///< numeric
  http::ListeningSocket socket;
};

/// Listens there: as the options say, else at the machine's own address on the way to the cluster's nodes.
/// The port is kept in the data directory, so that agents find the next server. Blocking: may ask for names.
/// `nodes`: those of the cluster; empty: Slurm does not answer. kFailedPrecondition: no address is known, and
/// what to name; else the port's errors.
[[nodiscard]] Result<AgentsAddress> ListenForAgents(const EngineOptions& options,
                                                    const store::DataDirectory& data,
                                                    std::span<const slurm::Node> nodes);

/// The numeric address that this machine uses to reach one of the hosts; empty: none of them is known to it.
[[nodiscard]] std::string OwnAddressTowards(const std::vector<std::string>& hosts);

}  // namespace trainyard::server
