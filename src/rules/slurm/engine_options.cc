#include "rules/slurm/engine_options.h"

#include <algorithm>

namespace trainyard::slurm {

namespace {

bool Uses(const EngineOptions& options, EngineOptions::Kind kind) {
  const auto is_kind = [kind](const auto& region) { return region.second == kind; };
  return options.kind == kind || std::ranges::any_of(options.regions, is_kind);
}

}  // namespace

bool UsesThisMachine(const EngineOptions& options) { return Uses(options, EngineOptions::Kind::kLocal); }
bool UsesSlurm(const EngineOptions& options) { return Uses(options, EngineOptions::Kind::kSlurm); }

bool IsForSlurm(const EngineOptions& options, const placement::DevicePool& here,
                const placement::Gang& gang) {
  if (const auto named = options.regions.find(gang.region); named != options.regions.end())
    return named->second == EngineOptions::Kind::kSlurm;
  return options.kind == EngineOptions::Kind::kSlurm || here.LackOf(gang).has_value();
}

bool OffersAccelerator(const EngineOptions& options, const placement::DevicePool& here,
                       const PartitionGpus* there, const std::string& region,
                       ml::v1::AcceleratorConfig::Type type) {
  if (there == nullptr && here.devices().empty()) return true;
  const placement::Gang job{
      .job_id = {}, .region = region, .replicas = {{.accelerator = type, .accelerator_count = 1}}};
  if (there != nullptr && IsForSlurm(options, here, job))
    return HasAccelerator(*there, options.slurm, region, type);
  return !here.LackOf(job);
}

}  // namespace trainyard::slurm
