#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/slurm/slurm_client.h"
#include "rules/slurm/engine_options.h"

namespace trainyard::engine {

/// Slurm as the options say that it is asked. An error: the address of slurmrestd is none.
[[nodiscard]] Result<std::unique_ptr<SlurmClient>> MakeSlurmClient(const slurm::EngineOptions& options);

/// Looks whether Slurm knows what the options name; its nodes. kFailedPrecondition: the operator's mistake.
/// A controller that does not answer now is none: it is said as a warning, and there are no nodes. Blocking,
/// up to some seconds.
[[nodiscard]] Result<std::vector<slurm::Node>> CheckCluster(const slurm::EngineOptions& options,
                                                            const SlurmClient& client);

}  // namespace trainyard::engine
