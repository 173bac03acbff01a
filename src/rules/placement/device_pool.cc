#include "rules/placement/device_pool.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rules/cluster/machine_type.h"
#include "rules/placement/gang.h"

namespace trainyard::placement {
namespace {

/// How many devices the replica needs: one for each GPU, one board for 8 TPU cores.
std::size_t Needed(const Gang::Replica& replica) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(replica.accelerator_count, 0));
  if (!cluster::IsTpu(replica.accelerator)) return count;
  return (count + kTpuCoresPerBoard - 1) / kTpuCoresPerBoard;
}

/// The board's name in TPU_CONFIG, in the form of Google's names.
std::string NodeName(const Device& tpu) { return "cmle-training-" + tpu.id + "-tpu"; }

std::map<AcceleratorConfig::Type, std::int64_t> AskedByType(const Gang& gang) {
  std::map<AcceleratorConfig::Type, std::int64_t> asked;
  for (const Gang::Replica& replica : gang.replicas) {
    if (replica.accelerator_count > 0) asked[replica.accelerator] += replica.accelerator_count;
  }
  return asked;
}

/// "a", "a and b", "a, b and c".
std::string List(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

}  // namespace

DevicePool::DevicePool(std::vector<Device> devices, AcceleratorMap map)
    : devices_(std::move(devices)), holders_(devices_.size()), map_(std::move(map)) {}

bool DevicePool::Asks(const Gang::Replica& replica) const {
  return replica.accelerator_count > 0 && !map_.Waives(replica.accelerator);
}

std::size_t DevicePool::AcceptedOf(const Gang::Replica& replica) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      devices_, [&](const Device& device) { return map_.Accepts(replica.accelerator, device); }));
}

bool DevicePool::Serves(Device::Kind kind) const {
  return map_.WaivesAny(kind) || std::ranges::find(devices_, kind, &Device::kind) != devices_.end();
}

std::optional<DevicePool::Gift> DevicePool::Choose(const Gang& gang) const {
  return ChooseFrom(gang, gang.replicas.size(), false);
}

/// Serves the replicas with the fewest possible devices first. The sets of devices that types accept are
/// nested, so this finds an assignment whenever there is one.
std::optional<DevicePool::Gift> DevicePool::ChooseFrom(const Gang& gang, std::size_t replicas,
                                                       bool held_too) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < replicas; ++i) {
    if (Asks(gang.replicas[i])) order.push_back(i);
  }
  if (order.empty()) return Gift();
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(AcceptedOf(gang.replicas[i]), i); });
  Gift gift(gang.replicas.size());
  std::vector<bool> taken(devices_.size());
  for (const std::size_t i : order) {
    const Gang::Replica& replica = gang.replicas[i];
    std::vector<std::size_t> chosen;
    for (const bool very_type : {true, false}) {
      for (std::size_t device = 0; device < devices_.size() && chosen.size() < Needed(replica); ++device) {
        if (taken[device] || (!held_too && !holders_[device].key.empty())) continue;
        if (!map_.Accepts(replica.accelerator, devices_[device])) continue;
        if ((devices_[device].type == AcceleratorName(replica.accelerator)) != very_type) continue;
        chosen.push_back(device);
        taken[device] = true;
      }
    }
    if (chosen.size() < Needed(replica)) return std::nullopt;
    std::ranges::sort(chosen);
    gift[i] = Describe(replica, chosen);
  }
  return gift;
}

replica::v1::Devices DevicePool::Describe(const Gang::Replica& replica,
                                          const std::vector<std::size_t>& chosen) const {
  replica::v1::Devices devices;
  devices.set_accelerator_type(AcceleratorConfig::Type_Name(replica.accelerator));
  for (const std::size_t i : chosen) {
    const Device& device = devices_[i];
    if (device.kind == Device::Kind::kGpu) devices.add_gpus(device.id);
    for (const std::string& file : device.files) devices.add_device_files(file);
    if (device.kind == Device::Kind::kTpu) devices.set_tpu_node_name(NodeName(device));
  }
  return devices;
}

std::optional<DevicePool::Lack> DevicePool::LackOf(const Gang& gang) const {
  if (ChooseFrom(gang, gang.replicas.size(), true)) return std::nullopt;
  Lack lack;
  while (ChooseFrom(gang, lack.replica + 1, true)) ++lack.replica;
  const Gang::Replica& replica = gang.replicas[lack.replica];
  const std::string name = AcceleratorName(replica.accelerator);
  lack.reason =
      "The job asks for " + AskedAccelerators(gang) + "; this machine has " + DescribeDevices(devices_);
  if (const std::size_t accepted = AcceptedOf(replica); !devices_.empty() && accepted < devices_.size())
    lack.reason +=
        ", of which " + std::to_string(accepted) + (accepted == 1 ? " counts" : " count") + " as " + name;
  lack.reason += ".";
  lack.unblock = "It can start when the server runs on a machine that has them, or with --accelerator-map " +
                 name +
                 "=none, which runs such jobs without accelerators. Until then it waits; you can cancel it.";
  return lack;
}

std::set<std::size_t> DevicePool::Wanted(const Gang& gang) const {
  std::set<std::size_t> wanted;
  for (const Gang::Replica& replica : gang.replicas) {
    if (!Asks(replica)) continue;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (map_.Accepts(replica.accelerator, devices_[i])) wanted.insert(i);
    }
  }
  return wanted;
}

std::set<JobLabel> DevicePool::HoldersOf(const std::set<std::size_t>& devices) const {
  std::set<JobLabel> names;
  for (const std::size_t i : devices) {
    if (!holders_[i].key.empty()) names.insert(holders_[i].name);
  }
  return names;
}

std::size_t DevicePool::FreeOf(const std::set<std::size_t>& devices) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(devices, [this](std::size_t i) { return holders_[i].key.empty(); }));
}

QuotaDemand DevicePool::DemandOf(const Gang& gang) const {
  QuotaDemand demand;
  for (const Gang::Replica& replica : gang.replicas) {
    if (!Asks(replica)) continue;
    demand[AcceleratorName(replica.accelerator)] += replica.accelerator_count;
    if (!cluster::IsTpu(replica.accelerator)) demand[std::string(kGpusQuota)] += replica.accelerator_count;
  }
  return demand;
}

std::size_t DevicePool::CountOf(const Gang& gang) const {
  std::size_t count = 0;
  for (const Gang::Replica& replica : gang.replicas) count += Asks(replica) ? Needed(replica) : 0;
  return count;
}

const JobLabel* DevicePool::HolderOf(std::size_t device) const {
  const Holder& holder = holders_.at(device);
  return holder.key.empty() ? nullptr : &holder.name;
}

std::vector<std::string> DevicePool::Notes(const Gang& gang) const {
  std::vector<std::string> waived;
  for (const auto& [type, count] : AskedByType(gang)) {
    if (map_.Waives(type)) waived.push_back(std::to_string(count) + " " + AcceleratorConfig::Type_Name(type));
  }
  if (waived.empty()) return {};
  return {"The job asks for " + List(waived) +
          "; this server runs such jobs without accelerators (--accelerator-map)."};
}

void DevicePool::Take(const std::string& holder, const JobLabel& name, const Gift& gift) {
  const auto is_given = [&gift](const Device& device) {
    return std::ranges::any_of(gift, [&device](const replica::v1::Devices& given) {
      if (device.kind == Device::Kind::kGpu &&
          std::ranges::find(given.gpus(), device.id) != given.gpus().end())
        return true;
      if (device.kind == Device::Kind::kTpu && given.tpu_node_name() == NodeName(device)) return true;
      return std::ranges::any_of(device.files, [&given](const std::string& file) {
        return std::ranges::find(given.device_files(), file) != given.device_files().end();
      });
    });
  };
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (holders_[i].key.empty() && is_given(devices_[i])) holders_[i] = {holder, name};
  }
}

void DevicePool::Free(const std::string& holder) {
  for (Holder& one : holders_) {
    if (one.key == holder) one = {};
  }
}

QuotaDemand AskedDemand(const Gang& gang) { return DevicePool().DemandOf(gang); }

std::string AskedAccelerators(const Gang& gang) {
  std::vector<std::string> asked;
  for (const auto& [type, count] : AskedByType(gang))
    asked.push_back(std::to_string(count) + " " + AcceleratorConfig::Type_Name(type));
  return List(asked);
}

}  // namespace trainyard::placement
