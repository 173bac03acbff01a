#pragma once

#include <boost/asio/awaitable.hpp>

#include "control/collaborators.h"
#include "control/run/orphans.h"
#include "control/run/runner_registry.h"

namespace trainyard::control {

/// Takes over the jobs of a previous server: none is started twice, no log line is missing or doubled.
/// Attempts left by ended jobs are removed in the background. Call it once, before anything else changes
/// jobs. Loop thread; everything outlives the call. Errors: a store or the attempt host cannot be read.
boost::asio::awaitable<Status> RecoverJobs(Collaborators& outside, RunnerRegistry& registry,
                                           Orphans& orphans);

}  // namespace trainyard::control
