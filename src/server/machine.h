#pragma once

#include "base/result.h"
#include "engine/local/machine_limits.h"
#include "placement/device_pool.h"
#include "placement/plan.h"
#include "server/serve_options.h"

/// What this machine has for jobs. Reads the machine; blocking.
namespace trainyard::server {

/// Finds what can be limited (engine::PrepareLimits), and says in one line each what cannot and what a logout
/// means for jobs. kFailedPrecondition: --capacity strict promises limits that do not work here.
[[nodiscard]] Result<engine::MachineLimits> MachineLimitsFor(const ServeOptions& options,
                                                             const std::string& attempts_dir);

[[nodiscard]] placement::Capacity MachineCapacity(placement::Capacity::Mode mode);

/// The accelerators that are declared, else those that are found; says so in one line.
[[nodiscard]] placement::DevicePool MachineDevices(const ServeOptions& options);

}  // namespace trainyard::server
