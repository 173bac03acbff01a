#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/placement/accelerator_map.h"
#include "rules/placement/device.h"
#include "rules/placement/device_health.h"
#include "rules/placement/gang.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/wait.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// A sentence for reasons: why free devices may not be enough.
inline constexpr std::string_view kOneModel = "The accelerators of a replica are all of one model.";

/// Records which job has which accelerators. A device belongs to at most one holder until it is released. A
/// value: copy it to plan without effect. Pure: one thread at a time.
class DevicePool {
 public:
  /// The devices of each replica of a gang, in its order; a replica that requests no accelerators has an
  /// empty message, one whose accelerators the operator's table waives has the waiver. Empty if no replica
  /// requests any.
  using Gift = std::vector<replica::v1::Devices>;

  /// Why a gang can never get the accelerators that it requests.
  struct Lack {
    std::size_t replica = 0;  ///< the first one that gets none
    std::string reason;       ///< one sentence: what is requested, what exists
    std::string unblock;      ///< one sentence
    friend bool operator==(const Lack&, const Lack&) = default;
  };

  /// What a look at the machine has changed.
  struct Change {
    Device device;
    bool is_new = false;
    std::string trouble_before{};  ///< as DeviceHealth::trouble
    std::string trouble{};
    std::string holder{};  ///< as Take was told; empty: the device is free
  };

  DevicePool() = default;
  DevicePool(std::vector<Device> devices, AcceleratorMap map);

  [[nodiscard]] const std::vector<Device>& devices() const noexcept { return devices_; }

  /// Free devices for the whole gang, or nullopt. All devices of a replica are of one type: the requested one
  /// if enough are free, otherwise the first in the order of the inventory. Deterministic.
  [[nodiscard]] std::optional<Gift> Choose(const Gang& gang) const;
  /// Why the gang cannot be served even if all healthy devices are free; nullopt if it can.
  [[nodiscard]] std::optional<Lack> LackOf(const Gang& gang) const;
  /// Whether any job that requests this kind can be served: there is a device, or the table waives a type.
  [[nodiscard]] bool Serves(Device::Kind kind) const;
  /// Positions in devices() of all healthy devices that the gang could get. If the sets of two gangs overlap,
  /// the later gang waits.
  [[nodiscard]] std::set<std::size_t> Wanted(const Gang& gang) const;
  /// Jobs that have one of these devices.
  [[nodiscard]] std::set<JobLabel> HoldersOf(const std::set<std::size_t>& devices) const;
  [[nodiscard]] std::size_t FreeOf(const std::set<std::size_t>& devices) const;

  /// Sentences for the job's log: which accelerators of the replicas the operator's table waives, and what
  /// that means for its programs.
  [[nodiscard]] std::vector<std::string> Notes(const Gang& gang) const;

  /// The gang's demand for quotas: the number of devices by type name, and of all GPUs together. Devices that
  /// the table waives are not counted.
  [[nodiscard]] QuotaDemand DemandOf(const Gang& gang) const;
  /// The number of devices that the gang takes if it gets all that it requests.
  [[nodiscard]] std::size_t CountOf(const Gang& gang) const;
  /// The job that has the device at that position of devices(); null: the device is free.
  [[nodiscard]] const JobLabel* HolderOf(std::size_t device) const;

  /// Assigns the devices. `holder` is unique among holders; waiting jobs are shown `name`. Devices that
  /// belong to a holder already do not change, and devices that no longer exist are ignored (for a job of a
  /// previous server process, on a machine that has changed).
  void Take(const std::string& holder, const JobLabel& name, const Gift& gift);
  /// Releases all devices of the holder; does nothing if it has none.
  void Free(const std::string& holder);

  /// Takes devices in trouble out of placement and healthy ones back, and adds new ones at the end. `seen`:
  /// all accelerators that answer. A device is known by its UUID, or by its first file. A holder keeps a
  /// device that is in trouble.
  std::vector<Change> Observe(std::span<const DeviceSigns> seen);
  /// Why the device at that position of devices() is out of placement; empty: it is not.
  [[nodiscard]] const std::string& TroubleOf(std::size_t device) const;
  /// Adds a device, free and healthy.
  void Add(Device device);

 private:
  struct Holder {
    std::string key;  ///< empty: free
    JobLabel name;
  };
  [[nodiscard]] std::optional<Gift> ChooseFrom(const Gang& gang, std::size_t replicas, bool held_too) const;
  [[nodiscard]] std::vector<std::size_t> ChooseOneModel(const Gang::Replica& replica,
                                                        const std::vector<bool>& usable) const;
  /// Whether devices of several types may be used for the replica.
  [[nodiscard]] bool IsMixed(const Gang::Replica& replica) const;
  [[nodiscard]] bool Asks(const Gang::Replica& replica) const;
  [[nodiscard]] bool MayGive(const Gang::Replica& replica, std::size_t device) const;
  [[nodiscard]] std::string DescribeTrouble(const Gang::Replica& replica) const;
  [[nodiscard]] std::size_t AcceptedOf(const Gang::Replica& replica) const;
  /// The replicas' waivers; empty if no replica requests accelerators.
  [[nodiscard]] Gift WaiversOf(const Gang& gang) const;
  [[nodiscard]] replica::v1::Devices Describe(const Gang::Replica& replica,
                                              const std::vector<std::size_t>& chosen) const;

  std::vector<Device> devices_;
  std::vector<Holder> holders_;       ///< by device
  std::vector<DeviceHealth> health_;  ///< by device
  AcceleratorMap map_;
};

/// Like DevicePool::DemandOf, for an engine without a table.
[[nodiscard]] QuotaDemand AskedDemand(const Gang& gang);

/// "4 NVIDIA_TESLA_T4" for all accelerators that the gang requests; empty if there are none.
[[nodiscard]] std::string AskedAccelerators(const Gang& gang);

}  // namespace trainyard::placement
