#include "rules/slurm/engine_options.h"

#include "rules/placement/quota.h"

namespace trainyard::slurm {

bool OffersAccelerator(const EngineOptions& options, const placement::DevicePool& here,
                       const PartitionGpus* there, const std::string& region,
                       ml::v1::AcceleratorConfig::Type type) {
  if (there == nullptr && here.devices().empty()) return true;
  const placement::Gang job{
      .job_id = {}, .region = region, .replicas = {{.accelerator = type, .accelerator_count = 1}}};
  if (there != nullptr && EngineOf(options, here, job) == placement::kSlurmEngine)
    return HasAccelerator(*there, options.slurm, region, type);
  return !here.LackOf(job);
}

}  // namespace trainyard::slurm
