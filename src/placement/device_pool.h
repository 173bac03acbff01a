#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/accelerator_map.h"
#include "placement/device.h"
#include "placement/gang.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// Who has which accelerators. A device has one holder at a time, and keeps it until the holder is freed. A
/// value: a copy is a plan. Pure: one thread at a time.
class DevicePool {
 public:
  /// By replica of the gang, in its order; a replica without accelerators has an empty message. Empty if
  /// no replica has any.
  using Gift = std::vector<replica::v1::Devices>;

  /// Why a gang can never have what it asks for here.
  struct Lack {
    std::size_t replica = 0;  ///< the first one that goes without
    std::string reason;       ///< one sentence: what is asked for, what is there
    std::string unblock;      ///< one sentence
    friend bool operator==(const Lack&, const Lack&) = default;
  };

  DevicePool() = default;
  DevicePool(std::vector<Device> devices, AcceleratorMap map);

  [[nodiscard]] const std::vector<Device>& devices() const noexcept { return devices_; }

  /// Free devices for the whole gang, or nothing. Deterministic: those of the very type that was asked for
  /// first, then in the order of the inventory; replica by replica.
  [[nodiscard]] std::optional<Gift> Choose(const Gang& gang) const;
  /// Even with all devices free the gang cannot be served.
  [[nodiscard]] std::optional<Lack> LackOf(const Gang& gang) const;
  /// Some job that asks for the kind can be served: there is a device, or the table waives a type.
  [[nodiscard]] bool Serves(Device::Kind kind) const;
  /// Positions in devices() of all that the gang could get: of two gangs whose sets meet, the later one
  /// waits.
  [[nodiscard]] std::set<std::size_t> Wanted(const Gang& gang) const;
  /// Jobs whose devices the gang could get if they were free.
  [[nodiscard]] std::set<std::string> HoldersOf(const std::set<std::size_t>& devices) const;
  [[nodiscard]] std::size_t FreeOf(const std::set<std::size_t>& devices) const;

  /// The replicas' accelerators that the operator's table waives, as a sentence for the job's log.
  [[nodiscard]] std::vector<std::string> Notes(const Gang& gang) const;

  /// `holder` is unique among holders; `name` is what waiting jobs are told. Devices that are held already,
  /// or are not there any more (a former server's job after the machine has changed), stay as they are.
  void Take(const std::string& holder, const std::string& name, const Gift& gift);
  /// Nothing for one that holds none.
  void Free(const std::string& holder);

 private:
  struct Holder {
    std::string key;  ///< empty: free
    std::string name;
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

/// "4 NVIDIA_TESLA_T4" for what the whole gang asks for; empty if it asks for none.
[[nodiscard]] std::string AskedAccelerators(const Gang& gang);

}  // namespace trainyard::placement
