#pragma once

#include <string>

#include "rules/placement/device_pool.h"
#include "rules/slurm/component.h"
#include "server/cluster/engine_options.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::server {

/// Whether a job of the region that asks for accelerators of the type can get them, or runs without by the
/// operator's table, where it goes. A server of this machine alone that has none answers as the original did:
/// yes. Pure.
///
/// @param here  what this machine has.
/// @param there  what the cluster's nodes have; null: no job goes to one. docs/adr/0058.
[[nodiscard]] bool OffersAccelerator(const EngineOptions& options, const placement::DevicePool& here,
                                     const slurm::PartitionGpus* there, const std::string& region,
                                     ml::v1::AcceleratorConfig::Type type);

}  // namespace trainyard::server
