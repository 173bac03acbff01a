#pragma once

#include <cstdint>
#include <string>

#include "rules/placement/engine_choice.h"
#include "rules/slurm/component.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::slurm {

/// The engines on which jobs run, and how the cluster is used: flags of `trainyard serve`. docs/slurm.md.
struct EngineOptions : placement::EngineChoice {
  std::string agent_host;        ///< numeric; empty: the machine's address on the route to the nodes
  std::uint16_t agent_port = 0;  ///< 0: the same as last time, or a free one
  SlurmSettings slurm{};
  std::string slurm_tools;  ///< directory of sbatch; empty: PATH
  std::string slurm_rest;   ///< URL of slurmrestd, as http::Endpoint::Parse reads it; empty: the tools
  std::string slurm_rest_token_file;  ///< absolute path; empty: none, for a Unix socket
  std::string node_dir;               ///< the nodes' own directory; empty: /var/tmp/trainyard-UID
  std::string node_cache;  ///< a shared directory for environments and images of all nodes; empty: each node
                           ///< has its own
  std::string node_buckets;  ///< path of DATA/buckets on the nodes; empty: not available there
};

/// Whether a job of the region that requests accelerators of the type can get them on its engine, or runs
/// without because of the operator's table. A server without Slurm on a machine without accelerators returns
/// true, like Google's service. Pure.
///
/// @param here  the devices of this machine.
/// @param there  the GPUs of the cluster's nodes; null: no job goes to a cluster. docs/adr/0058.
[[nodiscard]] bool OffersAccelerator(const EngineOptions& options, const placement::DevicePool& here,
                                     const PartitionGpus* there, const std::string& region,
                                     ml::v1::AcceleratorConfig::Type type);

}  // namespace trainyard::slurm
