#pragma once

#include <cstdint>
#include <string>

#include "rules/kubernetes/settings.h"
#include "rules/placement/engine_choice.h"
#include "rules/slurm/component.h"

namespace trainyard::engine {

/// The engines on which jobs run, and how clusters are used: flags of `trainyard serve`.
/// docs/slurm.md, docs/kubernetes.md.
struct EngineOptions : placement::EngineChoice {
  std::string agent_host;        ///< numeric; empty: the machine's address on the route to the nodes
  std::uint16_t agent_port = 0;  ///< 0: the same as last time, or a free one
  std::string agent_address;     ///< numeric: where agents connect, if it is not agent_host; empty: it is
  std::uint16_t agent_address_port = 0;  ///< with agent_address; 0: the port on which this server listens
  slurm::SlurmSettings slurm{};
  std::string slurm_tools;  ///< directory of sbatch; empty: PATH
  std::string slurm_rest;   ///< URL of slurmrestd, as http::Endpoint::Parse reads it; empty: the tools
  std::string slurm_rest_token_file;  ///< absolute path; empty: none, for a Unix socket
  std::string node_dir;               ///< the nodes' own directory; empty: /var/tmp/trainyard-UID
  std::string node_cache;  ///< a shared directory for environments and images of all nodes; empty: each node
                           ///< has its own
  std::string node_buckets;  ///< path of DATA/buckets on the nodes; empty: not available there
  kubernetes::KubernetesSettings kubernetes{};
};

}  // namespace trainyard::engine
