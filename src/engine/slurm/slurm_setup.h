#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "engine/engine_options.h"
#include "engine/slurm/slurm_client.h"

namespace trainyard::engine {

/// Makes the client that the options choose. An error: the address of slurmrestd is not valid.
[[nodiscard]] Result<std::unique_ptr<SlurmClient>> MakeSlurmClient(const EngineOptions& options);

/// Checks that Slurm knows what the options name, and returns its nodes. kFailedPrecondition: a mistake in
/// the options. A controller that does not answer now is no error: a warning says so, and the list is empty.
/// Blocks for up to some seconds.
[[nodiscard]] Result<std::vector<slurm::Node>> CheckSlurm(const EngineOptions& options,
                                                          const SlurmClient& client);

}  // namespace trainyard::engine
