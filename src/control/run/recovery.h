#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

#include "control/collaborators.h"
#include "control/run/orphans.h"
#include "control/run/runner_registry.h"

namespace trainyard::control {

/// Takes over the jobs of a previous server: none is started twice, no log line is missing or doubled.
/// Attempts left by ended jobs are removed in the background. Call it once, before anything else changes
/// jobs. When it returns, all jobs have runners of which something may run, and no job is given room on this
/// machine (engine::Stop::kTakingOver). The rest are returned, for RecoverRest: jobs that only wait for room
/// here. Loop thread; everything outlives the call. Errors: a store or the attempt host cannot be read.
boost::asio::awaitable<Result<std::vector<v1::JobRecord>>> RecoverJobs(Collaborators& outside,
                                                                       RunnerRegistry& registry,
                                                                       Orphans& orphans);

/// Makes the runners of the rest, with turns of the loop for others in between, then lets jobs have room.
/// Retries while a store cannot be read.
boost::asio::awaitable<void> RecoverRest(Collaborators& outside, RunnerRegistry& registry,
                                         std::vector<v1::JobRecord> rest);

}  // namespace trainyard::control
