#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/placement/accelerator_map.h"
#include "rules/placement/device.h"
#include "rules/placement/gang.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/wait.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// Which job holds which accelerators. A device has at most one holder, which keeps it until it is released.
/// A value: copy it to plan without effect. Pure: one thread at a time.
class DevicePool {
 public:
  /// By replica of the gang, in its order; a replica without accelerators has an empty message. Empty if
  /// no replica has any.
  using Gift = std::vector<replica::v1::Devices>;

  /// Why a gang can never get the accelerators that it asks for.
  struct Lack {
    std::size_t replica = 0;  ///< the first one that gets none
    std::string reason;       ///< one sentence: what is asked for, what is there
    std::string unblock;      ///< one sentence
    friend bool operator==(const Lack&, const Lack&) = default;
  };

  DevicePool() = default;
  DevicePool(std::vector<Device> devices, AcceleratorMap map);

  [[nodiscard]] const std::vector<Device>& devices() const noexcept { return devices_; }

  /// Free devices for the whole gang, or nothing. Deterministic: devices of exactly the requested type first,
  /// then in the order of the inventory; replica by replica.
  [[nodiscard]] std::optional<Gift> Choose(const Gang& gang) const;
  /// Why the gang cannot be served even if all devices are free; nothing if it can.
  [[nodiscard]] std::optional<Lack> LackOf(const Gang& gang) const;
  /// Whether any job that asks for this kind can be served: there is a device, or the table waives a type.
  [[nodiscard]] bool Serves(Device::Kind kind) const;
  /// Positions in devices() of all devices that the gang could get. If the sets of two gangs overlap, the
  /// later gang waits.
  [[nodiscard]] std::set<std::size_t> Wanted(const Gang& gang) const;
  /// Jobs that hold devices which the gang could get.
  [[nodiscard]] std::set<JobLabel> HoldersOf(const std::set<std::size_t>& devices) const;
  [[nodiscard]] std::size_t FreeOf(const std::set<std::size_t>& devices) const;

  /// A sentence for the job's log: which of the replicas' accelerators the operator's table waives.
  [[nodiscard]] std::vector<std::string> Notes(const Gang& gang) const;

  /// Devices by the names of their types, and GPUs together: what quotas count. Without what the table
  /// waives.
  [[nodiscard]] QuotaDemand DemandOf(const Gang& gang) const;
  /// How many devices the gang takes if it gets all that it asks for.
  [[nodiscard]] std::size_t CountOf(const Gang& gang) const;
  /// Who holds the device at that position of devices(); null: nobody.
  [[nodiscard]] const JobLabel* HolderOf(std::size_t device) const;

  /// `holder` is unique among holders; waiting jobs are told `name`. Devices that are held already stay as
  /// they are, and so do devices that no longer exist (a job of a previous server process, on a machine that
  /// has changed).
  void Take(const std::string& holder, const JobLabel& name, const Gift& gift);
  /// Does nothing if the holder has no devices.
  void Free(const std::string& holder);

 private:
  struct Holder {
    std::string key;  ///< empty: free
    JobLabel name;
  };
  [[nodiscard]] std::optional<Gift> ChooseFrom(const Gang& gang, std::size_t replicas, bool held_too) const;
  [[nodiscard]] bool Asks(const Gang::Replica& replica) const;
  [[nodiscard]] std::size_t AcceptedOf(const Gang::Replica& replica) const;
  [[nodiscard]] replica::v1::Devices Describe(const Gang::Replica& replica,
                                              const std::vector<std::size_t>& chosen) const;

  std::vector<Device> devices_;
  std::vector<Holder> holders_;  ///< by device
  AcceleratorMap map_;
};

/// As DevicePool::DemandOf, on an engine without a table that waives any.
[[nodiscard]] QuotaDemand AskedDemand(const Gang& gang);

/// "4 NVIDIA_TESLA_T4" for all that the gang asks for; empty if it asks for none.
[[nodiscard]] std::string AskedAccelerators(const Gang& gang);

}  // namespace trainyard::placement
