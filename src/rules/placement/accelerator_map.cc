#include "rules/placement/accelerator_map.h"

#include <algorithm>
#include <utility>

#include "rules/cluster/machine_type.h"

namespace trainyard::placement {
namespace {

constexpr std::string_view kFlag = "--accelerator-map";
constexpr std::string_view kAny = "any";
constexpr std::string_view kNone = "none";
constexpr std::string_view kCpu = "cpu";

Device::Kind KindOf(AcceleratorConfig::Type type) {
  return cluster::IsTpu(type) ? Device::Kind::kTpu : Device::Kind::kGpu;
}

}  // namespace

Result<AcceleratorMap> AcceleratorMap::Parse(std::string_view text) {
  TY_TRY(auto pairs, ParseNameValues(text, kFlag));
  AcceleratorMap map;
  for (auto& [name, value] : pairs) {
    const AcceleratorConfig::Type type = ParseAcceleratorName(name);
    const auto wrong = [](std::string why) {
      return std::unexpected(InvalidArgument(kFlag, std::move(why)));
    };
    if (type == AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED)
      return wrong("'" + name + "' is not an accelerator of the API: nvidia-tesla-k80, tpu-v2, ...");
    if (value == kCpu && !cluster::IsTpu(type))
      return wrong("'cpu' can stand for TPUs only; " + name + "=none runs such jobs without a GPU");
    const bool is_word = value == kAny || value == kNone || value == kCpu;
    if (!is_word && value.starts_with("tpu-") != cluster::IsTpu(type))
      return wrong("'" + value + "' cannot stand for " + name);
    if (!map.rules_.emplace(type, std::move(value)).second) return wrong("'" + name + "' has two rules");
  }
  return map;
}

replica::v1::Devices::Waiver AcceleratorMap::WaiverOf(AcceleratorConfig::Type type) const {
  using replica::v1::Devices;
  const auto rule = rules_.find(type);
  if (rule == rules_.end()) return Devices::NOT_WAIVED;
  return rule->second == kNone  ? Devices::WITHOUT
         : rule->second == kCpu ? Devices::CPU_FOR_TPU
                                : Devices::NOT_WAIVED;
}

bool AcceleratorMap::WaivesAny(Device::Kind kind) const {
  return std::ranges::any_of(rules_, [&](const auto& rule) {
    return KindOf(rule.first) == kind && WaiverOf(rule.first) != replica::v1::Devices::NOT_WAIVED;
  });
}

bool AcceleratorMap::Accepts(AcceleratorConfig::Type type, const Device& device) const {
  if (device.kind != KindOf(type)) return false;
  const auto rule = rules_.find(type);
  return rule == rules_.end() || rule->second == kAny || rule->second == device.type;
}

}  // namespace trainyard::placement
