#include "rules/kubernetes/pod_request.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rules/cluster/machine_type.h"
#include "rules/placement/device.h"

namespace trainyard::kubernetes {

namespace {

using Replica = placement::Gang::Replica;

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kMillis = 1'000;  ///< of one CPU
/// What daemon sets of the cluster may take of a node: allocatable has it, but pods of ours do not get it.
constexpr std::int64_t kNodeReserveMillis = 100;
constexpr std::int64_t kNodeReserveMib = 128;

void Put(NodeSelector& selector, const NodeSelector& more) {
  for (const auto& [label, value] : more) selector.insert_or_assign(label, value);
}

const PodMachine* MachineOf(const KubernetesSettings& settings, const std::string& machine_type) {
  const auto found = settings.machine_types.find(machine_type);
  return found == settings.machine_types.end() ? nullptr : &found->second;
}

const AcceleratorOptions* RuleFor(const KubernetesSettings& settings, ml::v1::AcceleratorConfig::Type type) {
  const auto found = settings.accelerators.find(placement::AcceleratorName(type));
  return found == settings.accelerators.end() ? nullptr : &found->second;
}

NodeSelector SelectorOf(const KubernetesSettings& settings, const std::string& region,
                        const PodMachine* machine) {
  NodeSelector selector = settings.selector;
  if (const auto own = settings.regions.find(region); own != settings.regions.end())
    Put(selector, own->second);
  if (machine != nullptr) Put(selector, machine->selector);
  return selector;
}

bool HasLabels(const KubeNode& node, const NodeSelector& selector) {
  return std::ranges::all_of(selector, [&node](const auto& wanted) {
    const auto label = node.labels.find(wanted.first);
    return label != node.labels.end() && label->second == wanted.second;
  });
}

bool IsOpenFor(const KubeNode& node, const std::string& device_resource) {
  return node.is_usable && (node.reserved_for.empty() || node.reserved_for == device_resource);
}

std::int64_t DevicesOf(const KubeNode& node, const std::string& resource) {
  const auto found = node.devices.find(resource);
  return found == node.devices.end() ? 0 : found->second;
}

using Candidates = std::vector<const KubeNode*>;

/// The usable nodes that the selector fits; all usable ones if it fits none: the scheduler will say so.
Candidates CandidatesFor(const SlotRequest& slot, std::span<const KubeNode> nodes) {
  Candidates fitting;
  Candidates usable;
  for (const KubeNode& node : nodes) {
    if (!IsOpenFor(node, slot.device_resource)) continue;
    usable.push_back(&node);
    if (HasLabels(node, slot.selector)) fitting.push_back(&node);
  }
  return fitting.empty() ? usable : fitting;
}

/// What a node can give to one pod of ours.
struct Offer {
  std::int64_t cpu_millis = 0;
  std::int64_t memory_mib = 0;
};
Offer AllocatableOf(const KubeNode& node) {
  return {.cpu_millis = static_cast<std::int64_t>(std::floor(node.cpus * kMillis + 0.5)),
          .memory_mib = node.memory_bytes / kMib};
}
Offer RestOf(const KubeNode& node) {
  const Offer all = AllocatableOf(node);
  return {.cpu_millis = std::max<std::int64_t>(1, all.cpu_millis - kNodeReserveMillis),
          .memory_mib = std::max<std::int64_t>(1, all.memory_mib - kNodeReserveMib)};
}

/// "3.9 CPUs, 3872 MiB".
std::string Size(std::int64_t cpu_millis, std::int64_t memory_mib) {
  std::string cpus = std::to_string(cpu_millis / kMillis);
  if (const std::int64_t rest = cpu_millis % kMillis; rest > 0) {
    std::string digits = std::to_string(kMillis + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    cpus += "." + digits;
  }
  std::string text = cpus + (cpu_millis == kMillis ? " CPU" : " CPUs");
  if (memory_mib > 0) text += ", " + std::to_string(memory_mib) + " MiB";
  return text;
}

/// "the cluster", or "the nodes with pool=gpu".
std::string Where(const NodeSelector& selector) {
  if (selector.empty()) return "the cluster";
  std::string text = "the nodes with ";
  for (const auto& [label, value] : selector) text += (text.ends_with(' ') ? "" : ", ") + label + "=" + value;
  return text;
}

/// The request of one replica.
struct ReplicaRequest {
  SlotRequest slot;
  std::string note{};
  std::string lack{};
  std::string remedy{};
};

/// The node with enough devices that has most of the CPUs and memory; null: there is none.
const KubeNode* LargestFor(const Candidates& candidates, const SlotRequest& slot) {
  const KubeNode* largest = nullptr;
  const auto size = [&slot](const KubeNode& node) {
    const Offer rest = RestOf(node);
    return std::pair(std::min(rest.cpu_millis, slot.cpu_millis), std::min(rest.memory_mib, slot.memory_mib));
  };
  for (const KubeNode* node : candidates) {
    if (slot.devices > 0 && DevicesOf(*node, slot.device_resource) < slot.devices) continue;
    if (largest == nullptr || size(*node) > size(*largest)) largest = node;
  }
  return largest;
}

void FitTo(const KubeNode& node, Sizes sizes, const Replica& replica, ReplicaRequest& wanted) {
  SlotRequest& slot = wanted.slot;
  const std::string asked = replica.machine_type + " is " + Size(slot.cpu_millis, slot.memory_mib);
  const Offer all = AllocatableOf(node);
  if (sizes == Sizes::kStrict) {
    if (slot.cpu_millis <= all.cpu_millis && slot.memory_mib <= all.memory_mib) return;
    wanted.lack = asked + ", and the largest node of " + Where(slot.selector) + " has " +
                  Size(all.cpu_millis, all.memory_mib) + ".";
    wanted.remedy = "Use a smaller machine type, or map it to what the nodes have (kubernetes-machine).";
    return;
  }
  const Offer rest = RestOf(node);
  const std::int64_t cpu_millis = std::min(slot.cpu_millis, rest.cpu_millis);
  const std::int64_t memory_mib = std::min(slot.memory_mib, rest.memory_mib);
  if (cpu_millis == slot.cpu_millis && memory_mib == slot.memory_mib) return;
  slot.cpu_millis = cpu_millis;
  slot.memory_mib = memory_mib;
  wanted.note = asked + "; no node of " + Where(slot.selector) +
                " has as much for one pod: " + Size(cpu_millis, memory_mib) + " are requested.";
}

/// Whether no node can ever have the devices: nodes have some, but fewer; or none has any, and the settings
/// do not say that the cluster adds such nodes.
bool LacksDevices(const Candidates& candidates, const SlotRequest& slot, bool has_rule) {
  const bool has_some = std::ranges::any_of(
      candidates, [&slot](const KubeNode* node) { return DevicesOf(*node, slot.device_resource) > 0; });
  return has_some || !has_rule;
}

void FitToNodes(const Replica& replica, const KubernetesSettings& settings, std::span<const KubeNode> nodes,
                ReplicaRequest& wanted) {
  const Candidates candidates = CandidatesFor(wanted.slot, nodes);
  if (candidates.empty()) return;
  const SlotRequest& slot = wanted.slot;
  if (const KubeNode* node = LargestFor(candidates, slot)) {
    FitTo(*node, settings.sizes, replica, wanted);
    return;
  }
  if (!LacksDevices(candidates, slot, RuleFor(settings, replica.accelerator) != nullptr)) return;
  wanted.lack = "No node of " + Where(slot.selector) + " has " + std::to_string(slot.devices) + " of " +
                slot.device_resource + ".";
  wanted.remedy =
      "Ask for fewer accelerators on a machine, or map the type to what the nodes have "
      "(kubernetes-accelerator).";
}

ReplicaRequest WantedOf(const placement::Gang& gang, const Replica& replica,
                        const KubernetesSettings& settings, std::span<const KubeNode> nodes) {
  const PodMachine* machine = MachineOf(settings, replica.machine_type);
  ReplicaRequest wanted{
      .slot = {.selector = SelectorOf(settings, gang.region, machine), .image = replica.image}};
  SlotRequest& slot = wanted.slot;
  slot.cpu_millis = std::max<std::int64_t>(1, std::llround(replica.cpus * kMillis));
  slot.memory_mib = replica.memory_bytes / kMib;
  if (machine != nullptr && machine->cpu_millis) slot.cpu_millis = *machine->cpu_millis;
  if (machine != nullptr && machine->memory_mib) slot.memory_mib = *machine->memory_mib;
  if (replica.accelerator_count > 0) {
    const AcceleratorOptions* rule = RuleFor(settings, replica.accelerator);
    if (rule == nullptr && cluster::IsTpu(replica.accelerator)) {
      wanted.lack = "The Kubernetes cluster gives no TPUs.";
      wanted.remedy = "Submit the job with GPUs or without accelerators, or to a region that has TPUs.";
      return wanted;
    }
    const AcceleratorOptions fallback;
    const AcceleratorOptions& options = rule == nullptr ? fallback : *rule;
    slot.devices = replica.accelerator_count;
    slot.device_resource = options.resource;
    if (!gang.any_gpu) Put(slot.selector, options.selector);
  }
  FitToNodes(replica, settings, nodes, wanted);
  return wanted;
}

/// Compares the needs of two replicas, ignoring their task types.
bool NeedsTheSame(const Replica& one, Replica other) {
  other.type = one.type;
  return one == other;
}

void Add(std::vector<std::string>& notes, std::string note) {
  if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

}  // namespace

PodsRequest RequestOf(const placement::Gang& gang, const KubernetesSettings& settings,
                      std::span<const KubeNode> nodes) {
  PodsRequest request;
  request.slots.reserve(gang.replicas.size());
  for (std::size_t i = 0; i < gang.replicas.size(); ++i) {
    if (i > 0 && NeedsTheSame(gang.replicas[i], gang.replicas[i - 1])) {
      request.slots.push_back(SlotRequest(request.slots.back()));
      continue;
    }
    ReplicaRequest wanted = WantedOf(gang, gang.replicas[i], settings, nodes);
    request.slots.push_back(std::move(wanted.slot));
    Add(request.notes, std::move(wanted.note));
    if (request.lack.empty()) {
      request.lack = std::move(wanted.lack);
      request.remedy = std::move(wanted.remedy);
    }
  }
  return request;
}

bool HasAccelerator(std::span<const KubeNode> nodes, const KubernetesSettings& settings,
                    const std::string& region, ml::v1::AcceleratorConfig::Type type) {
  if (RuleFor(settings, type) != nullptr) return true;
  if (cluster::IsTpu(type)) return false;
  if (nodes.empty()) return true;
  const std::string resource = AcceleratorOptions().resource;
  std::vector<NodeSelector> selectors{SelectorOf(settings, region, nullptr)};
  for (const auto& [name, machine] : settings.machine_types)
    selectors.push_back(SelectorOf(settings, region, &machine));
  return std::ranges::any_of(nodes, [&](const KubeNode& node) {
    if (!IsOpenFor(node, resource) || DevicesOf(node, resource) == 0) return false;
    return std::ranges::any_of(selectors,
                               [&node](const NodeSelector& selector) { return HasLabels(node, selector); });
  });
}

}  // namespace trainyard::kubernetes
