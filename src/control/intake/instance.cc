#include "control/intake/instance.h"

#include "base/fnv1a.h"
#include "control/run/manifest.h"
#include "rules/cluster/project_number.h"
#include "rules/cluster/region.h"
#include "rules/placement/device.h"

namespace trainyard::control {

namespace {

constexpr std::string_view kTpuPrefix = "TPU_V";
constexpr std::string_view kTpuV5 = "TPU_V5_LITEPOD";

/// "v2-8" of "TPU_V2": all of a machine's chips are one board of 8 cores. "v5litepod-4" of "TPU_V5_LITEPOD":
/// its machines differ in their number of chips.
std::string TpuType(std::string_view accelerator_type, std::int64_t chips) {
  if (accelerator_type == kTpuV5) return "v5litepod-" + std::to_string(chips);
  if (!accelerator_type.starts_with(kTpuPrefix)) return {};
  accelerator_type.remove_prefix(kTpuPrefix.size());
  return "v" + std::string(accelerator_type.substr(0, accelerator_type.find('_'))) + "-" +
         std::to_string(placement::kTpuCoresPerBoard);
}

}  // namespace

std::string ServiceAccountOf(const v1::JobRecord& job, const cluster::NumberOf& number_of) {
  const std::string& asked = job.job().training_input().service_account();
  return asked.empty() ? cluster::ServiceAccount(number_of(job.project())) : asked;
}

Instance InstanceOf(const v1::JobRecord& job, int replica, const cluster::NumberOf& number_of) {
  const v1::ReplicaRecord& record = job.replicas(replica);
  const replica::v1::Devices& devices = record.slot().devices();
  Instance instance{.project = job.project(),
                    .project_number = number_of(job.project()),
                    .service_account = ServiceAccountOf(job, number_of),
                    .account_id = job.service_account_id(),
                    .zone = cluster::ZoneOf(job.job().training_input().region()),
                    .name = HostNameOf(job, replica),
                    .machine_type = record.machine_type(),
                    .address = record.has_endpoint() ? record.endpoint().address() : record.slot().address(),
                    .runtime_version = record.image().empty() ? job.runtime_version() : std::string()};
  instance.id = Fnv1a(job.project() + "/" + instance.name) >> 1;
  if (!devices.tpu_node_name().empty())
    instance.tpu = {.node_name = devices.tpu_node_name(),
                    .accelerator_type = TpuType(devices.accelerator_type(), record.accelerators().count())};
  return instance;
}

}  // namespace trainyard::control
