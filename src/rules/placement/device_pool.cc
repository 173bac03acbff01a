#include "rules/placement/device_pool.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
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

/// Whether both describe one device. An id that is an index changes when other GPUs come or go; a UUID does
/// not.
bool IsSame(const Device& known, const Device& other) {
  if (known.kind != other.kind) return false;
  const bool is_index = known.id.find('-') == std::string::npos || other.id.find('-') == std::string::npos;
  const bool has_files = !known.files.empty() && !other.files.empty();
  if (known.kind == Device::Kind::kGpu && is_index && has_files)
    return known.files.front() == other.files.front();
  return known.id == other.id;
}

/// A MIG device. CUDA uses the first that it is shown and no other.
bool IsPart(const Device& device) { return device.id.starts_with("MIG-"); }

/// "a", "a and b", "a, b and c".
std::string List(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

}  // namespace

DevicePool::DevicePool(std::vector<Device> devices, AcceleratorMap map)
    : devices_(std::move(devices)),
      holders_(devices_.size()),
      health_(devices_.size()),
      map_(std::move(map)) {}

bool DevicePool::Asks(const Gang::Replica& replica) const {
  return replica.accelerator_count > 0 &&
         map_.WaiverOf(replica.accelerator) == replica::v1::Devices::NOT_WAIVED;
}

DevicePool::Gift DevicePool::WaiversOf(const Gang& gang) const {
  if (AskedByType(gang).empty()) return {};
  Gift gift(gang.replicas.size());
  for (std::size_t i = 0; i < gift.size(); ++i) {
    const Gang::Replica& replica = gang.replicas[i];
    if (replica.accelerator_count <= 0 || Asks(replica)) continue;
    gift[i].set_accelerator_type(AcceleratorConfig::Type_Name(replica.accelerator));
    gift[i].set_waiver(map_.WaiverOf(replica.accelerator));
  }
  return gift;
}

bool DevicePool::MayGive(const Gang::Replica& replica, std::size_t device) const {
  if (IsPart(devices_[device]) && Needed(replica) > 1) return false;
  return health_[device].trouble.empty() && map_.Accepts(replica.accelerator, devices_[device]);
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

/// Serves the replicas with the fewest possible devices first, and of these the largest. The sets of devices
/// that types accept are nested, and numbers of accelerators are powers of two, so this finds an assignment
/// whenever there is one: a smaller replica never takes a part of a model's devices that only a larger one
/// could use.
std::optional<DevicePool::Gift> DevicePool::ChooseFrom(const Gang& gang, std::size_t replicas,
                                                       bool held_too) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < replicas; ++i) {
    if (Asks(gang.replicas[i])) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const Gang::Replica& replica = gang.replicas[i];
    return std::tuple(AcceptedOf(replica), -static_cast<std::int64_t>(Needed(replica)), i);
  });
  std::vector<bool> usable(devices_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) usable[i] = held_too || holders_[i].key.empty();
  Gift gift = WaiversOf(gang);
  for (const std::size_t i : order) {
    const std::vector<std::size_t> chosen = ChooseOneModel(gang.replicas[i], usable);
    if (chosen.empty()) return std::nullopt;
    for (const std::size_t device : chosen) usable[device] = false;
    gift[i] = Describe(gang.replicas[i], chosen);
  }
  return gift;
}

/// Devices for the replica: of the type that it asks for if there are enough, otherwise of the first other
/// type of which there are. Empty: there are not enough of any one type.
std::vector<std::size_t> DevicePool::ChooseOneModel(const Gang::Replica& replica,
                                                    const std::vector<bool>& usable) const {
  std::vector<std::string> types = {AcceleratorName(replica.accelerator)};
  for (const Device& device : devices_) {
    if (std::ranges::find(types, device.type) == types.end()) types.push_back(device.type);
  }
  for (const std::string& type : types) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < devices_.size() && chosen.size() < Needed(replica); ++i) {
      if (usable[i] && devices_[i].type == type && MayGive(replica, i)) chosen.push_back(i);
    }
    if (chosen.size() == Needed(replica)) return chosen;
  }
  return {};
}

bool DevicePool::IsMixed(const Gang::Replica& replica) const {
  std::set<std::string_view> types;
  for (const Device& device : devices_) {
    if (map_.Accepts(replica.accelerator, device)) types.insert(device.type);
  }
  return types.size() > 1;
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
  if (const std::string out = DescribeTrouble(replica); !out.empty()) {
    lack.reason += out;
    lack.unblock =
        "It can start when they are healthy again, which this server checks by itself. Until then it "
        "waits; you can cancel it.";
    return lack;
  }
  if (Needed(replica) > 1 && std::ranges::any_of(devices_, IsPart))
    lack.reason += " A replica can use one MIG device only.";
  if (IsMixed(replica)) lack.reason += std::string(" ").append(kOneModel);
  lack.unblock =
      "It can start when the server runs on a machine that has them, or with --accelerator-map " + name +
      (cluster::IsTpu(replica.accelerator) ? "=cpu, which lets TensorFlow's TPUStrategy train on the CPU"
                                           : "=none, which runs such jobs without accelerators") +
      ". Until then it waits; you can cancel it.";
  return lack;
}

/// A sentence about the devices in trouble that the replica could have otherwise; empty: there are none.
std::string DevicePool::DescribeTrouble(const Gang::Replica& replica) const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!health_[i].trouble.empty() && map_.Accepts(replica.accelerator, devices_[i]))
      out.push_back(devices_[i].id + " (" + health_[i].trouble + ")");
  }
  return out.empty() ? "" : " Out of service: " + List(out) + ".";
}

std::set<std::size_t> DevicePool::Wanted(const Gang& gang) const {
  std::set<std::size_t> wanted;
  for (const Gang::Replica& replica : gang.replicas) {
    if (!Asks(replica)) continue;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (MayGive(replica, i)) wanted.insert(i);
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
  using replica::v1::Devices;
  std::map<Devices::Waiver, std::vector<std::string>> waived;
  std::string tpu;  // one that the job's programs will not find
  for (const auto& [type, count] : AskedByType(gang)) {
    const Devices::Waiver waiver = map_.WaiverOf(type);
    waived[waiver].push_back(cluster::AcceleratorText(count, type, gang.any_gpu));
    if (waiver == Devices::WITHOUT && cluster::IsTpu(type)) tpu = AcceleratorName(type);
  }
  std::vector<std::string> notes;
  for (const std::size_t i : Wanted(gang)) {
    if (devices_[i].kind != Device::Kind::kTpu || !devices_[i].files.empty()) continue;
    notes.push_back(
        "This server declares its TPU (--accelerators) and gives the job's programs no device file of one. "
        "On a machine without a TPU, --accelerator-map " +
        devices_[i].type + "=cpu lets TensorFlow's TPUStrategy train on the CPU.");
    break;
  }
  if (const auto& types = waived[Devices::WITHOUT]; !types.empty())
    notes.push_back("The job asks for " + List(types) +
                    "; this server runs such jobs without accelerators (--accelerator-map).");
  if (!tpu.empty())
    notes.push_back(
        "A program that asks TensorFlow for its TPU (TPUClusterResolver, TPUStrategy) fails without one. "
        "With --accelerator-map " +
        tpu + "=cpu such a program trains on the CPU, unchanged.");
  if (const auto& types = waived[Devices::CPU_FOR_TPU]; !types.empty())
    notes.push_back(
        "The job asks for " + List(types) +
        "; on this server the CPU takes the TPU's place (--accelerator-map): in runtime versions with "
        "TensorFlow, TPUStrategy is a strategy for one CPU.");
  return notes;
}

void DevicePool::Take(const std::string& holder, const JobLabel& name, const Gift& gift) {
  const auto is_given = [&gift](const Device& device) {
    return std::ranges::any_of(gift, [&device](const replica::v1::Devices& given) {
      if (device.kind == Device::Kind::kGpu &&
          std::ranges::find(given.gpus(), device.id) != given.gpus().end())
        return true;
      if (device.kind == Device::Kind::kTpu && given.tpu_node_name() == NodeName(device)) return true;
      return !device.files.empty() &&
             std::ranges::find(given.device_files(), device.files.front()) != given.device_files().end();
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

std::vector<DevicePool::Change> DevicePool::Observe(std::span<const DeviceSigns> seen) {
  std::vector<Change> changes;
  const auto note = [&](std::size_t i, const DeviceSigns* signs, bool is_new) {
    const DeviceHealth before = std::exchange(health_[i], NextHealth(health_[i], signs));
    if (is_new || before.trouble != health_[i].trouble)
      changes.push_back({devices_[i], is_new, before.trouble, health_[i].trouble, holders_[i].key});
  };
  const std::size_t known_count = devices_.size();
  for (std::size_t i = 0; i < known_count; ++i) {
    const auto signs =
        std::ranges::find_if(seen, [&](const DeviceSigns& one) { return IsSame(devices_[i], one.device); });
    if (signs != seen.end() && holders_[i].key.empty()) devices_[i] = signs->device;
    note(i, signs == seen.end() ? nullptr : &*signs, false);
  }
  for (const DeviceSigns& signs : seen) {
    const auto known =
        std::ranges::find_if(devices_, [&](const Device& device) { return IsSame(device, signs.device); });
    if (known != devices_.end()) continue;
    Add(signs.device);
    note(devices_.size() - 1, &signs, true);
  }
  return changes;
}

const std::string& DevicePool::TroubleOf(std::size_t device) const { return health_.at(device).trouble; }

void DevicePool::Add(Device device) {
  devices_.push_back(std::move(device));
  holders_.emplace_back();
  health_.emplace_back();
}

QuotaDemand AskedDemand(const Gang& gang) { return DevicePool().DemandOf(gang); }

std::string AskedAccelerators(const Gang& gang) {
  std::vector<std::string> asked;
  for (const auto& [type, count] : AskedByType(gang))
    asked.push_back(cluster::AcceleratorText(count, type, gang.any_gpu));
  return List(asked);
}

}  // namespace trainyard::placement
