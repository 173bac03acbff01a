#include "rules/cluster/region.h"

#include <algorithm>
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

bool IsRegion(std::string_view name) {
  return FindRegion(name) != nullptr || std::ranges::binary_search(VertexRegions(), name);
}

std::string_view RegionOf(std::string_view zone) {
  constexpr std::size_t kSuffix = 2;  // "-b"
  if (zone.size() <= kSuffix || zone[zone.size() - kSuffix] != '-') return {};
  const bool is_letter = zone.back() >= 'a' && zone.back() <= 'z';
  return is_letter ? zone.substr(0, zone.size() - kSuffix) : std::string_view();
}

std::span<const std::string_view> VertexRegions() {
  static constexpr std::string_view kNames[] = {"africa-south1",
                                                "asia-east1",
                                                "asia-east2",
                                                "asia-northeast1",
                                                "asia-northeast2",
                                                "asia-northeast3",
                                                "asia-south1",
                                                "asia-south2",
                                                "asia-southeast1",
                                                "asia-southeast2",
                                                "australia-southeast1",
                                                "australia-southeast2",
                                                "europe-central2",
                                                "europe-north1",
                                                "europe-north2",
                                                "europe-southwest1",
                                                "europe-west1",
                                                "europe-west12",
                                                "europe-west2",
                                                "europe-west3",
                                                "europe-west4",
                                                "europe-west6",
                                                "europe-west8",
                                                "europe-west9",
                                                "me-central1",
                                                "me-central2",
                                                "me-west1",
                                                "northamerica-northeast1",
                                                "northamerica-northeast2",
                                                "southamerica-east1",
                                                "southamerica-west1",
                                                "us-central1",
                                                "us-east1",
                                                "us-east4",
                                                "us-east5",
                                                "us-east7",
                                                "us-south1",
                                                "us-west1",
                                                "us-west2",
                                                "us-west3",
                                                "us-west4",
                                                "us-west8"};
  return kNames;
}

const Region* FindRegion(std::string_view name) {
  for (const Region& region : kRegions) {
    if (region.name == name) return &region;
  }
  return nullptr;
}

}  // namespace trainyard::cluster
