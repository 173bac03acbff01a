#include "rules/slurm/component.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/ascii.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/task_name.h"
#include "rules/placement/device.h"

namespace trainyard::slurm {

namespace {

using Replica = placement::Gang::Replica;

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kMemoryCountedMin = 2;  ///< MiB: nodes whose memory is not configured have 1

void Replace(std::string& mine, const std::string& given) {
  if (!given.empty()) mine = given;
}

/// The usable nodes of the options' partition.
std::vector<const Node*> NodesFor(const Options& options, std::span<const Node> nodes) {
  std::vector<const Node*> found;
  for (const Node& node : nodes) {
    const bool is_meant =
        options.partition.empty() ? node.default_partition : node.partition == options.partition;
    if (is_meant && IsUsable(node)) found.push_back(&node);
  }
  return found;
}

int GpusOf(const Node& node, std::string_view type) {
  int count = 0;
  for (const NodeGpus& gpus : node.gpus)
    if (type.empty() || GpuKey(gpus.type) == GpuKey(type)) count += gpus.count;
  return count;
}

/// Slurm's name of the GPUs that are used for the type; empty: any.
std::string GpuTypeFor(const Replica& replica, const SlurmSettings& settings,
                       std::span<const Node* const> nodes) {
  std::string wanted = placement::AcceleratorName(replica.accelerator);
  if (const auto rule = settings.accelerators.find(wanted); rule != settings.accelerators.end()) {
    if (rule->second == kAnyGpu) return {};
    wanted = rule->second;
  }
  for (const Node* node : nodes)
    for (const NodeGpus& gpus : node->gpus)
      if (GpuKey(gpus.type) == GpuKey(wanted)) return gpus.type;
  return settings.accelerators.contains(placement::AcceleratorName(replica.accelerator)) ? wanted
                                                                                         : std::string();
}

std::string Where(const Options& options) {
  return options.partition.empty() ? "the default partition" : "the partition '" + options.partition + "'";
}

std::string Size(int cpus, std::int64_t memory_mib, int gpus) {
  std::string text = placement::Counted(cpus, "CPU");
  if (memory_mib > 0) text += ", " + std::to_string(memory_mib) + " MiB";
  if (gpus > 0) text += ", " + placement::Counted(gpus, "GPU");
  return text;
}

/// The request of one replica.
struct ReplicaRequest {
  Component component;
  std::string note{};
  std::string lack{};
  std::string remedy{};
};

/// The node with enough GPUs that has most of the requested CPUs and memory.
const Node* Largest(std::span<const Node* const> nodes, const Component& wanted) {
  const Node* largest = nullptr;
  const auto size = [&wanted](const Node& node) {
    return std::pair(std::min(node.cpus, wanted.cpus), std::min(node.memory_mib, wanted.memory_mib));
  };
  for (const Node* node : nodes) {
    if (GpusOf(*node, wanted.gpu_type) < wanted.gpus) continue;
    if (largest == nullptr || size(*node) > size(*largest)) largest = node;
  }
  return largest;
}

void FitTo(const Node& node, Sizes sizes, const Replica& replica, ReplicaRequest& wanted) {
  Component& component = wanted.component;
  if (node.memory_mib < kMemoryCountedMin) component.memory_mib = 0;
  const int cpus = std::min(component.cpus, std::max(node.cpus, 1));
  const std::int64_t memory = std::min(component.memory_mib, node.memory_mib);
  if (cpus == component.cpus && memory == component.memory_mib) return;
  const std::string asked = Size(component.cpus, component.memory_mib, component.gpus);
  if (sizes == Sizes::kStrict) {
    wanted.lack = replica.machine_type + " is " + asked + ", and the largest node of " +
                  Where(component.options) + " has " + Size(node.cpus, node.memory_mib, 0) + ".";
    wanted.remedy = "Use a smaller machine type, or map it to what the nodes have (machine_types).";
    return;
  }
  component.cpus = cpus;
  component.memory_mib = memory;
  wanted.note = replica.machine_type + " is " + asked + "; " + Where(component.options) +
                " has no node as large: " + Size(cpus, memory, component.gpus) + " are asked for.";
}

ReplicaRequest WantedOf(const Replica& replica, const std::string& region, const SlurmSettings& settings,
                        std::span<const Node> nodes) {
  const auto found = settings.machine_types.find(replica.machine_type);
  const MachineOptions* machine = found == settings.machine_types.end() ? nullptr : &found->second;
  ReplicaRequest wanted{.component = {.options = OptionsOf(settings, region, machine)}};
  Component& component = wanted.component;
  component.cpus = std::max(1, static_cast<int>(std::ceil(replica.cpus)));
  component.memory_mib = replica.memory_bytes / kMib;
  if (machine != nullptr && machine->cpus) component.cpus = *machine->cpus;
  if (machine != nullptr && machine->memory_mib) component.memory_mib = *machine->memory_mib;
  if (cluster::IsTpu(replica.accelerator)) {
    wanted.lack = "Slurm gives no TPUs.";
    wanted.remedy = "Submit the job with GPUs or without accelerators, or to a region that has TPUs.";
    return wanted;
  }
  const std::vector<const Node*> candidates = NodesFor(component.options, nodes);
  component.gpus = static_cast<int>(replica.accelerator_count);
  if (component.gpus > 0) component.gpu_type = GpuTypeFor(replica, settings, candidates);
  if (candidates.empty()) return wanted;
  const Node* node = Largest(candidates, component);
  if (node == nullptr) {
    wanted.lack = "No node of " + Where(component.options) + " has " +
                  placement::Counted(component.gpus, "GPU") +
                  (component.gpu_type.empty() ? "" : " of the type " + component.gpu_type) + ".";
    wanted.remedy =
        "Ask for fewer GPUs on a machine, or map the type to one that the nodes have (accelerators).";
    return wanted;
  }
  FitTo(*node, settings.sizes, replica, wanted);
  return wanted;
}

std::optional<std::chrono::minutes> TimeMaxOf(const GangRequest& request, std::span<const Node> nodes) {
  std::optional<std::chrono::minutes> most;
  for (const Component& component : request.components) {
    for (const Node* node : NodesFor(component.options, nodes)) {
      if (node->time_limit_minutes <= 0) continue;
      const std::chrono::minutes limit(node->time_limit_minutes);
      most = std::min(most.value_or(limit), limit);
    }
  }
  return most;
}

/// Compares the needs of two replicas, ignoring their task types and images: agents pull images themselves.
bool NeedsTheSame(const Replica& one, Replica other) {
  other.type = one.type;
  other.image = one.image;
  return one == other;
}

bool IsAlike(const Component& one, Component other) {
  other.replicas = one.replicas;
  return one == other;
}

void Add(std::vector<std::string>& notes, std::string note) {
  if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

}  // namespace

Options WithOptionsOf(Options options, const Options& machine) {
  Replace(options.partition, machine.partition);
  Replace(options.account, machine.account);
  Replace(options.qos, machine.qos);
  Replace(options.constraint, machine.constraint);
  options.lines.insert(options.lines.end(), machine.lines.begin(), machine.lines.end());
  return options;
}

Options OptionsOf(const SlurmSettings& settings, const std::string& region, const MachineOptions* machine) {
  Options options = settings.options;
  if (const auto own = settings.regions.find(region); own != settings.regions.end())
    Replace(options.partition, own->second);
  return machine == nullptr ? options : WithOptionsOf(std::move(options), machine->options);
}

GangRequest RequestOf(const placement::Gang& gang, const SlurmSettings& settings,
                      std::span<const Node> nodes) {
  GangRequest request;
  Component* latest = nullptr;
  for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
    if (latest != nullptr && NeedsTheSame(gang.replicas[i], gang.replicas[i - 1])) {
      latest->replicas.push_back(static_cast<int>(i));
      continue;
    }
    ReplicaRequest wanted = WantedOf(gang.replicas[i], gang.region, settings, nodes);
    Add(request.notes, std::move(wanted.note));
    if (request.lack.empty()) {
      request.lack = std::move(wanted.lack);
      request.remedy = std::move(wanted.remedy);
    }
    const auto alike = std::ranges::find_if(
        request.components, [&wanted](const Component& known) { return IsAlike(known, wanted.component); });
    latest = alike != request.components.end()
                 ? &*alike
                 : &request.components.emplace_back(std::move(wanted.component));
    latest->replicas.push_back(static_cast<int>(i));
  }
  request.time_max = TimeMaxOf(request, nodes);
  return request;
}

std::vector<int> ReplicasOfSlots(const GangRequest& request) {
  std::vector<int> replicas;
  for (const Component& component : request.components)
    replicas.insert(replicas.end(), component.replicas.begin(), component.replicas.end());
  return replicas;
}

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
