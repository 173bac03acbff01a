#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "rules/slurm/node_list.h"
#include "rules/slurm/settings.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Which GPUs a cluster has, and for which accelerators of the original they stand. Pure: any thread.
namespace trainyard::slurm {

/// A type of GPUs in one spelling: "nvidia-tesla-t4", "Tesla_T4" and "t4" are one.
[[nodiscard]] std::string GpuKey(std::string_view type);

/// The types (GpuKey; empty: Slurm names none) on the usable nodes of each partition; those of the default
/// one also under an empty name.
using PartitionGpus = std::map<std::string, std::set<std::string>>;
[[nodiscard]] PartitionGpus GpusByPartition(std::span<const Node> nodes);

/// Whether a job of the region can get accelerators of the type, on a machine of whatever type: as
/// RequestOf asks for them. Always false for TPUs.
///
/// @param gpus  empty: the nodes are not known, and any GPU may be there.
[[nodiscard]] bool HasAccelerator(const PartitionGpus& gpus, const SlurmSettings& settings,
                                  const std::string& region, ml::v1::AcceleratorConfig::Type type);

}  // namespace trainyard::slurm
