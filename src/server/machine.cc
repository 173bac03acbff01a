#include "server/machine.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>

#include "async/diagnostics.h"
#include "node/inventory.h"

namespace trainyard::server {

Result<engine::MachineLimits> MachineLimitsFor(const ServeOptions& options, const std::string& attempts_dir) {
  engine::MachineLimits limits = engine::PrepareLimits(attempts_dir);
  if (!limits.logout.empty()) {
    Diagnose(limits.logout_ends_jobs ? DiagnosticLevel::kWarning : DiagnosticLevel::kInfo, limits.logout);
  }
  if (limits.lacking.empty()) return limits;
  if (options.capacity == placement::Capacity::Mode::kStrict) {
    return std::unexpected(
        FailedPrecondition("--capacity strict promises every replica its machine type's memory "
                           "and CPUs, but " +
                           limits.lacking + ", or use --capacity share"));
  }
  Diagnose(DiagnosticLevel::kWarning, limits.lacking);
  return limits;
}

placement::Capacity MachineCapacity(placement::Capacity::Mode mode) {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  struct sysinfo memory{};
  std::int64_t bytes =
      sysinfo(&memory) == 0 ? static_cast<std::int64_t>(memory.totalram) * memory.mem_unit : 0;
  return {.mode = mode, .cpus = std::max(cpus, 1), .memory_bytes = bytes};
}

placement::DevicePool MachineDevices(const ServeOptions& options) {
  node::Inventory found;
  if (options.accelerators) {
    found.devices = *options.accelerators;
  } else {
    found = node::FindDevices();
  }
  for (const std::string& note : found.notes) Diagnose(DiagnosticLevel::kWarning, note);
  for (const std::string& detail : found.details) Diagnose(DiagnosticLevel::kDebug, detail);
  Diagnose(DiagnosticLevel::kInfo, "this machine has " + placement::DescribeDevices(found.devices) +
                                       (options.accelerators ? ", as declared" : ""));
  return {std::move(found.devices), options.accelerator_map};
}

}  // namespace trainyard::server
