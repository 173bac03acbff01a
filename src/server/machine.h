#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/local/machine_limits.h"
#include "engine/local/supervisor_starter.h"
#include "rules/placement/device_pool.h"
#include "rules/placement/plan.h"
#include "server/options/serve_options.h"

/// What this machine has for jobs. Reads the machine; blocking.
namespace trainyard::server {

/// Finds what can be limited (engine::PrepareLimits, or the keeper tells), and says in one line each what
/// cannot and what a logout means for jobs. A keeper that does not answer yet is no error: no limits are
/// known then. kFailedPrecondition: --capacity strict promises limits that do not work here.
[[nodiscard]] Result<engine::MachineLimits> MachineLimitsFor(const ServeOptions& options,
                                                             const std::string& attempts_dir);

/// Who starts supervisors: the keeper if there is to be one, else this process. `limits`: what the former
/// function found.
[[nodiscard]] std::unique_ptr<engine::SupervisorStarter> MakeStarter(const ServeOptions& options,
                                                                     const std::string& attempts_dir,
                                                                     engine::MachineLimits limits);

[[nodiscard]] placement::Capacity MachineCapacity(placement::Capacity::Mode mode);

/// The accelerators that are declared, else those that are found; says so in one line.
[[nodiscard]] placement::DevicePool MachineDevices(const ServeOptions& options);

}  // namespace trainyard::server
