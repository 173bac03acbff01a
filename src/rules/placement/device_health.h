#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rules/placement/device.h"

/// Which accelerators are fit for jobs. Pure: any thread.
namespace trainyard::placement {

/// What one look at the machine found about an accelerator that answers.
struct DeviceSigns {
  Device device;
  std::vector<std::uint64_t> xids{};  ///< NVIDIA's numbers of the errors since the look before
  std::uint64_t memory_errors = 0;    ///< uncorrectable ones since the GPU was reset
};

struct DeviceHealth {
  std::string trouble{};  ///< a clause: why no job gets the device; empty: it is healthy
  int looks_left = 0;     ///< looks without a new error until an error is forgiven
  friend bool operator==(const DeviceHealth&, const DeviceHealth&) = default;
};

/// After a look; `seen` is null if the device does not answer. A device that does not answer is out until it
/// does; one with uncorrectable memory errors until it is reset; one with an error of its hardware until it
/// has answered a number of looks (kLooksAfterError) without another. Errors that a program makes by itself
/// (Xid 13, 31, 43, 45, 68, 109) do not count. Source: NVIDIA's page "XID Errors"; docs/adr/0068.
[[nodiscard]] DeviceHealth NextHealth(const DeviceHealth& before, const DeviceSigns* seen);

inline constexpr int kLooksAfterError = 10;

}  // namespace trainyard::placement
