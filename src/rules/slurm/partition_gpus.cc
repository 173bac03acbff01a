#include "rules/slurm/partition_gpus.h"

#include <algorithm>

#include "base/ascii.h"
#include "rules/cluster/machine_type.h"
#include "rules/placement/device.h"
#include "rules/slurm/component.h"

namespace trainyard::slurm {

std::string GpuKey(std::string_view type) {
  std::string key;
  for (const char c : type) key += c == '-' ? '_' : ToLower(c);
  for (const std::string_view brand : {"nvidia_", "tesla_"})
    if (key.starts_with(brand)) key.erase(0, brand.size());
  return key;
}

PartitionGpus GpusByPartition(std::span<const Node> nodes) {
  PartitionGpus found;
  for (const Node& node : nodes) {
    std::set<std::string>& own = found[node.partition];  // there, even if it has none
    if (!IsUsable(node)) continue;
    for (const NodeGpus& gpus : node.gpus)
      if (gpus.count > 0) own.insert(GpuKey(gpus.type));
    if (node.default_partition) found[""] = own;
  }
  return found;
}

bool HasAccelerator(const PartitionGpus& gpus, const SlurmSettings& settings, const std::string& region,
                    ml::v1::AcceleratorConfig::Type type) {
  if (cluster::IsTpu(type)) return false;
  if (gpus.empty()) return true;
  std::set<std::string> partitions{OptionsOf(settings, region, nullptr).partition};
  for (const auto& [name, machine] : settings.machine_types)
    partitions.insert(OptionsOf(settings, region, &machine).partition);
  const auto rule = settings.accelerators.find(placement::AcceleratorName(type));
  const bool is_any = rule == settings.accelerators.end() || rule->second == kAnyGpu;
  return std::ranges::any_of(partitions, [&](const std::string& partition) {
    const auto has = gpus.find(partition);
    if (has == gpus.end()) return false;
    return is_any ? !has->second.empty() : has->second.contains(GpuKey(rule->second));
  });
}

}  // namespace trainyard::slurm
