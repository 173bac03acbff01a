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

std::string RegionsWith(std::uint32_t types) {
  std::string names;
  for (const Region& region : kRegions) {
    bool has_all = region.OneZoneMayHave(types);
    for (int type = 0; type < AcceleratorConfig::Type_ARRAYSIZE; ++type)
      if ((types >> static_cast<unsigned>(type) & 1U) != 0)
        has_all = has_all && region.Has(static_cast<AcceleratorConfig::Type>(type));
    if (has_all) names += (names.empty() ? "" : ", ") + std::string(region.name);
  }
  return names;
}

std::string_view RegionOf(std::string_view zone) {
  constexpr std::size_t kSuffix = 2;  // "-b"
  if (zone.size() <= kSuffix || zone[zone.size() - kSuffix] != '-') return {};
  const bool is_letter = zone.back() >= 'a' && zone.back() <= 'z';
  return is_letter ? zone.substr(0, zone.size() - kSuffix) : std::string_view();
}

const Region* FindRegion(std::string_view name) {
  for (const Region& region : kRegions) {
    if (region.name == name) return &region;
  }
  return nullptr;
}

}  // namespace trainyard::cluster
