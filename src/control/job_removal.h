#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "control/collaborators.h"
#include "control/runner_registry.h"

/// Removing jobs that have ended, with all that is kept of them. Two steps (store/job_store.h): a job that is
/// begun is gone for everybody, and what is left of it goes as soon as somebody finishes it, after a kill the
/// next server. Loop thread only; what takes long happens in short steps on the threads of the stores.
namespace trainyard::control {

struct RemovedJobs {
  std::int64_t jobs = 0;
  std::int64_t bytes = 0;  ///< of log lines, as they were kept
};

/// Jobs whose begun removal is finished together.
inline constexpr int kRemovedTogether = 100;

/// The jobs that must stay: those that somebody looks after, and those that an unfinished tuning job resumes.
/// By uid; trials are in it, too.
[[nodiscard]] std::set<std::int64_t> NeededJobs(const RunnerRegistry& registry);

/// Erases logs, figures, what is left of attempts, then events and records of jobs whose removal has begun,
/// and of their trials. May be repeated and interrupted. Errors: of the stores; what is left goes with the
/// next call.
boost::asio::awaitable<Result<RemovedJobs>> FinishRemoval(const Collaborators& outside,
                                                          std::vector<std::int64_t> uids);

}  // namespace trainyard::control
