#include "server/cluster/region_accelerators.h"

namespace trainyard::server {

bool OffersAccelerator(const EngineOptions& options, const placement::DevicePool& here,
                       const slurm::PartitionGpus* there, const std::string& region,
                       ml::v1::AcceleratorConfig::Type type) {
  if (there == nullptr && here.devices().empty()) return true;
  const placement::Gang job{
      .job_id = {}, .region = region, .replicas = {{.accelerator = type, .accelerator_count = 1}}};
  if (there != nullptr && IsForSlurm(options, here, job))
    return slurm::HasAccelerator(*there, options.slurm, region, type);
  return !here.LackOf(job);
}

}  // namespace trainyard::server
