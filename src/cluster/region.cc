#include "cluster/region.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace trainyard::cluster {
namespace {

constexpr std::uint32_t Bits(std::initializer_list<AcceleratorConfig::Type> types) {
  std::uint32_t bits = 0;
  for (AcceleratorConfig::Type type : types) bits |= 1U << static_cast<unsigned>(type);
  return bits;
}

constexpr Region kRegions[] = {
#include "cluster/regions.inc"
};

}  // namespace

bool Region::Has(AcceleratorConfig::Type type) const {
  return (accelerators & Bits({type})) != 0 || (IsGpu(type) && !gpus_known);
}

std::span<const Region> Regions() { return kRegions; }

const Region* FindRegion(std::string_view name) {
  const auto* found = std::ranges::find(kRegions, name, &Region::name);
  return found == std::end(kRegions) ? nullptr : found;
}

}  // namespace trainyard::cluster
