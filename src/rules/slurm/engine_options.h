#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rules/placement/device_pool.h"
#include "rules/placement/gang.h"
#include "rules/slurm/component.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::slurm {

/// The engines on which jobs run: flags of `trainyard serve`. docs/slurm.md.
struct EngineOptions {
  enum class Kind {
    kLocal,  ///< on this machine
    kSlurm,  ///< on the nodes of a cluster
  };
  Kind kind = Kind::kLocal;               ///< for regions that are not in `regions`
  std::map<std::string, Kind> regions{};  ///< engine by region
  std::string agent_host;                 ///< numeric; empty: the machine's address on the route to the nodes
  std::uint16_t agent_port = 0;           ///< 0: the same as last time, or a free one
  SlurmSettings slurm{};
  std::string slurm_tools;  ///< directory of sbatch; empty: PATH
  std::string slurm_rest;   ///< URL of slurmrestd, as http::Endpoint::Parse reads it; empty: the tools
  std::string slurm_rest_token_file;  ///< absolute path; empty: none, for a Unix socket
  std::string node_dir;               ///< the nodes' own directory; empty: /var/tmp/trainyard-UID
  std::string node_cache;  ///< a shared directory for environments and images of all nodes; empty: each node
                           ///< has its own
  std::string node_buckets;  ///< path of DATA/buckets on the nodes; empty: not available there
};

/// Whether any job runs on this machine. Pure.
[[nodiscard]] bool UsesThisMachine(const EngineOptions& options);
/// Whether any job goes to Slurm. Pure.
[[nodiscard]] bool UsesSlurm(const EngineOptions& options);
/// Whether the gang goes to Slurm. Decided by its region; or else, if it requests accelerators that this
/// machine lacks, by where they may be; or else by --engine. `here`: the devices of this machine. Only if
/// UsesSlurm. Pure.
[[nodiscard]] bool IsForSlurm(const EngineOptions& options, const placement::DevicePool& here,
                              const placement::Gang& gang);

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
