#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/slurm/slurm_client.h"
#include "server/cluster/engine_options.h"

namespace trainyard::server {

/// Slurm as the options say that it is asked. An error: the address of slurmrestd is none.
[[nodiscard]] Result<std::unique_ptr<engine::SlurmClient>> MakeSlurmClient(const EngineOptions& options);

/// Looks whether Slurm knows what the options name; its nodes. kFailedPrecondition: the operator's mistake.
/// A controller that does not answer now is none: it is said as a warning, and there are no nodes. Blocking,
/// up to some seconds.
[[nodiscard]] Result<std::vector<slurm::Node>> CheckCluster(const EngineOptions& options,
                                                            const engine::SlurmClient& client);

}  // namespace trainyard::server
