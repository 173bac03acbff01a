#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/placement/device.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// The operator's table of devices for Google's accelerator types. A job that requests a type gets any device
/// of the same kind (also for types that are not in the table), devices of one type only, or none; with none
/// the job runs without. With cpu, it runs without, too, and the CPU takes the TPU's place in its programs. A
/// value. Pure: any thread.
class AcceleratorMap {
 public:
  AcceleratorMap() = default;

  /// "nvidia-tesla-k80=nvidia-tesla-t4,nvidia-tesla-p4=none,tpu-v2=cpu". Empty: no rules. Errors:
  /// kInvalidArgument, field "--accelerator-map": a name that the API does not have, a name given twice, a
  /// GPU in place of a TPU, cpu in place of a GPU.
  [[nodiscard]] static Result<AcceleratorMap> Parse(std::string_view text);

  /// Whether a job that requests the type runs without a device, and what its programs find then.
  [[nodiscard]] replica::v1::Devices::Waiver WaiverOf(AcceleratorConfig::Type type) const;
  [[nodiscard]] bool WaivesAny(Device::Kind kind) const;
  /// Whether the device may be used for the type.
  [[nodiscard]] bool Accepts(AcceleratorConfig::Type type, const Device& device) const;

 private:
  std::map<AcceleratorConfig::Type, std::string> rules_;  ///< "any", "none", "cpu" or a device's type
};

}  // namespace trainyard::placement
