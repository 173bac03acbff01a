#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rules/placement/device_pool.h"
#include "rules/placement/gang.h"
#include "rules/slurm/component.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::slurm {

/// Where jobs run: flags of `trainyard serve`. docs/slurm.md.
struct EngineOptions {
  enum class Kind {
    kLocal,  ///< on this machine
    kSlurm,  ///< on the nodes of a cluster
  };
  Kind kind = Kind::kLocal;               ///< of regions that are not named
  std::map<std::string, Kind> regions{};  ///< those that are named
  std::string agent_host;                 ///< numeric; empty: the machine's address on the way to the nodes
  std::uint16_t agent_port = 0;           ///< 0: the same as last time, else a free one
  SlurmSettings slurm{};
  std::string slurm_tools;  ///< folder with sbatch; empty: PATH
  std::string slurm_rest;   ///< URL of slurmrestd, as http::Endpoint::Parse reads it; empty: the tools
  std::string slurm_rest_token_file;  ///< absolute path; empty: none, for a Unix socket
  std::string node_dir;               ///< where nodes keep what they need; empty: /var/tmp/trainyard-UID
  std::string node_cache;    ///< where nodes keep environments and images together; empty: each its own
  std::string node_buckets;  ///< where nodes see DATA/buckets; empty: they do not
};

/// Whether any job runs on this machine. Pure.
[[nodiscard]] bool UsesThisMachine(const EngineOptions& options);
/// Whether any job goes to Slurm. Pure.
[[nodiscard]] bool UsesSlurm(const EngineOptions& options);
/// Whether the gang goes to Slurm: as its region says, else, with accelerators that are not here, to where
/// they may be, else as --engine says. `here`: what this machine has. Only where UsesSlurm. Pure.
[[nodiscard]] bool IsForSlurm(const EngineOptions& options, const placement::DevicePool& here,
                              const placement::Gang& gang);

/// Whether a job of the region that asks for accelerators of the type can get them, or runs without by the
/// operator's table, where it goes. A server of this machine alone that has none answers as the original did:
/// yes. Pure.
///
/// @param here  what this machine has.
/// @param there  what the cluster's nodes have; null: no job goes to one. docs/adr/0058.
[[nodiscard]] bool OffersAccelerator(const EngineOptions& options, const placement::DevicePool& here,
                                     const PartitionGpus* there, const std::string& region,
                                     ml::v1::AcceleratorConfig::Type type);

}  // namespace trainyard::slurm
