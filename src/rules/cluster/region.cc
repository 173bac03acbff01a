#include "rules/cluster/region.h"

#include <initializer_list>

namespace trainyard::cluster {
namespace {

constexpr std::uint32_t Bits(std::initializer_list<AcceleratorConfig::Type> types) {
  std::uint32_t bits = 0;
  for (AcceleratorConfig::Type type : types) bits |= 1U << static_cast<unsigned>(type);
  return bits;
}

constexpr Region kRegions[] = {
#include "rules/cluster/regions.inc"
};

}  // namespace

bool Region::Has(AcceleratorConfig::Type type) const {
  return (accelerators & Bits({type})) != 0 || (IsGpu(type) && !gpus_known);
}

bool Region::OneZoneMayHave(std::uint32_t types) const { return apart == 0 || (types & apart) != apart; }

std::span<const Region> Regions() { return kRegions; }

std::string ZoneOf(std::string_view region) { return std::string(region) + "-b"; }

const Region* FindRegion(std::string_view name) {
  for (const Region& region : kRegions) {
    if (region.name == name) return &region;
  }
  return nullptr;
}

}  // namespace trainyard::cluster
