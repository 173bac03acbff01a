#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/wire/resource_name.h"
#include "control/collaborators.h"
#include "control/run/runner_registry.h"

namespace trainyard::control {

struct RemovedJobs {
  std::int64_t jobs = 0;
  std::int64_t bytes = 0;  ///< of log lines, as they were kept
};

/// Removes jobs that have ended, with all that is kept of them: log, figures, trials, what is left of
/// attempts, events, record. Their ids stay taken. In two steps (stores/store/job_store.h): a job that is
/// begun is gone for everybody, and what is left of it goes as soon as somebody finishes it, after a kill the
/// next server. Loop thread only; what takes long happens in short steps on the threads of the stores.
class JobRemoval {
 public:
  /// Jobs whose begun removal is finished together.
  static constexpr int kTogether = 100;

  /// All outlive it. Nothing is removed before the previous server's jobs are taken over: `recovered`.
  JobRemoval(const Collaborators& outside, const RunnerRegistry& registry, Event& recovered)
      : outside_(outside), registry_(registry), recovered_(recovered) {}

  /// Nothing of the job is there when it returns. kFailedPrecondition: it has not ended, or an unfinished
  /// tuning job resumes it; kNotFound.
  boost::asio::awaitable<Status> Delete(wire::JobName name);
  /// The same for many jobs, by uid; those that have not ended or are needed are passed over. Also finishes
  /// what a killed server had begun. Errors: of the stores; what is left goes with the next call.
  boost::asio::awaitable<Result<RemovedJobs>> RemoveEnded(std::vector<std::int64_t> uids);

  /// The jobs that must stay: those that somebody looks after, and those that an unfinished tuning job
  /// resumes. By uid; trials are in it, too.
  [[nodiscard]] std::set<std::int64_t> NeededJobs() const;
  /// Digests of the images that unfinished jobs have, once the jobs are taken over.
  boost::asio::awaitable<std::set<std::string>> NeededImages();

 private:
  boost::asio::awaitable<bool> WaitUntilLeft(std::int64_t uid);
  boost::asio::awaitable<void> ForgetAttempts(std::vector<std::int64_t> uids);
  boost::asio::awaitable<Result<RemovedJobs>> Finish(std::vector<std::int64_t> uids);

  const Collaborators& outside_;
  const RunnerRegistry& registry_;
  Event& recovered_;
};

}  // namespace trainyard::control
