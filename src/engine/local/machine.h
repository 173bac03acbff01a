#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/local/machine_limits.h"
#include "engine/local/supervisor_starter.h"
#include "rules/placement/accelerator_map.h"
#include "rules/placement/device_pool.h"
#include "rules/placement/plan.h"

/// What this machine has for jobs. Reads the machine; blocking.
namespace trainyard::engine {

/// Finds what can be limited (by PrepareLimits, or by asking the keeper), and prints one line about what
/// cannot be limited and one about what a logout means for jobs. A keeper that does not answer yet is no
/// error: no limits are known then. `keeper`: its socket; empty: there is none. kFailedPrecondition:
/// --capacity strict promises limits that do not work here.
[[nodiscard]] Result<MachineLimits> MachineLimitsFor(const std::string& keeper,
                                                     placement::Capacity::Mode capacity,
                                                     const std::string& attempts_dir);

/// Makes the object that starts supervisors: through the keeper if one is named, otherwise as children of
/// this process. `limits`: the result of MachineLimitsFor.
[[nodiscard]] std::unique_ptr<SupervisorStarter> MakeStarter(const std::string& keeper,
                                                             placement::Capacity::Mode capacity,
                                                             const std::string& attempts_dir,
                                                             MachineLimits limits);

[[nodiscard]] placement::Capacity MachineCapacity(placement::Capacity::Mode mode);

/// The declared accelerators if there are any, otherwise those that are found; prints them in one line.
[[nodiscard]] placement::DevicePool MachineDevices(
    const std::optional<std::vector<placement::Device>>& declared, placement::AcceleratorMap map);

}  // namespace trainyard::engine
