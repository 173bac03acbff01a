#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rules/cluster/machine_type.h"

/// The regions of Google's training service. Table: data/cluster/regions.json. Pure: any thread.
namespace trainyard::cluster {

struct Region {
  std::string_view name;
  bool gpus_known = false;         ///< false: it had GPUs, but their types are not documented any more
  std::uint32_t accelerators = 0;  ///< known ones: bit number = AcceleratorConfig::Type
  std::uint32_t apart = 0;         ///< a set of GPUs that no single zone has completely; 0: none is known

  /// Whether the region has the accelerator, as far as is known. If the list is not known, every GPU type
  /// counts as present.
  [[nodiscard]] bool Has(AcceleratorConfig::Type type) const;

  /// Whether some zone may have all of these GPUs, as far as is known.
  ///
  /// @param types  bit number = AcceleratorConfig::Type. Source: public page "using GPUs": all GPUs of a job
  ///               must be available in a single zone of its region.
  [[nodiscard]] bool OneZoneMayHave(std::uint32_t types) const;
};

[[nodiscard]] std::span<const Region> Regions();

/// The names of the regions of Vertex AI, sorted; most are also regions of the training service. Source: the
/// newest SDK's SUPPORTED_REGIONS without "global", "us" and "eu".
[[nodiscard]] std::span<const std::string_view> VertexRegions();

/// Whether a job may name the region: the original or Vertex AI has it, so it is a name for this
/// installation.
[[nodiscard]] bool IsRegion(std::string_view name);

/// The zone that programs of a job in the region see. The zones of Google's TPUs are not documented; the only
/// example is us-central1-b. Source: spec environment.md section 4.
[[nodiscard]] std::string ZoneOf(std::string_view region);

/// The names of all regions in which a job with these accelerators is accepted: "a, b"; empty: there are
/// none.
///
/// @param types  as for Region::OneZoneMayHave
[[nodiscard]] std::string RegionsWith(std::uint32_t types);

/// The region of a zone's name: "us-west1" of "us-west1-b". Empty: it is not the name of a zone.
[[nodiscard]] std::string_view RegionOf(std::string_view zone);

/// Null for a name that is not in the table. The pointer is to static storage.
[[nodiscard]] const Region* FindRegion(std::string_view name);

}  // namespace trainyard::cluster
