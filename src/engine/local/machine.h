#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "engine/local/attempt_accounts.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/machine_limits.h"
#include "engine/local/node_settings.h"
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

/// The declared accelerators if there are any, otherwise those that are found; prints them in one line. What
/// could not be read about them is left to control::DeviceWatch, which looks again and again.
[[nodiscard]] placement::DevicePool MachineDevices(
    const std::optional<std::vector<placement::Device>>& declared, placement::AcceleratorMap map);

/// Whether replicas can have isolated networks here: tries it in a child process. kFailedPrecondition, with a
/// sentence for the operator. Call it before there are other threads.
[[nodiscard]] Status CheckIsolatedNetworks();

/// Whether replicas of an account that is not root can have user and mount namespaces here, a root directory
/// of their own, and redirected connections: each tries it in a child process. kFailedPrecondition, with a
/// clause for the operator that names the setting to change. Call them before there are other threads.
[[nodiscard]] Status CheckUserNamespaces();
[[nodiscard]] Status CheckOwnRoot();
[[nodiscard]] Status CheckConnectDoors();

/// Whether jobs with separate users can be given files of the directory: tries it, and changes nothing. Needs
/// root. kFailedPrecondition, with the step and the directory.
[[nodiscard]] Status CheckJobUsers(const JobUsers& users, const std::string& directory);

/// The isolation of attempts on this machine, without which none is started; tries it, which takes a few ms.
[[nodiscard]] Isolations FindIsolations();

/// How the tools that build environments are isolated here.
struct BuildTools {
  std::unique_ptr<ToolIsolation> isolation;
  std::string missing;  ///< what this machine cannot do, a sentence for the log; empty: nothing
};

/// Tries what this machine allows, which takes a few ms. `hidden`: directories that tools must not see.
[[nodiscard]] BuildTools FindBuildTools(std::vector<std::string> hidden);

}  // namespace trainyard::engine
