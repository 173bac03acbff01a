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
  std::int64_t bytes = 0;  ///< of log lines, as stored
};

/// Removes jobs that have ended, with everything that is stored of them: log, resource use, trials, files of
/// attempts, events, record. Their ids stay taken. Takes two steps (stores/store/job_store.h): after the
/// first the job is no longer visible; the rest is deleted by the second, after a kill by the next server.
/// Loop thread only; long work is done in short steps on the threads of the stores.
class JobRemoval {
 public:
  /// How many jobs are finished together in the second step.
  static constexpr int kTogether = 100;

  /// All outlive it. Nothing is removed until the previous server's jobs are taken over: `recovered`.
  JobRemoval(const Collaborators& outside, const RunnerRegistry& registry, Event& recovered)
      : outside_(outside), registry_(registry), recovered_(recovered) {}

  /// Nothing of the job is left when it returns. kFailedPrecondition: it has not ended, or an unfinished
  /// tuning job resumes it; kNotFound.
  boost::asio::awaitable<Status> Delete(wire::JobName name);
  /// The same for many jobs, by uid; those that have not ended or are still needed are skipped. Also finishes
  /// what a killed server had begun. Errors: of the stores; what is left is removed by the next call.
  boost::asio::awaitable<Result<RemovedJobs>> RemoveEnded(std::vector<std::int64_t> uids);

  /// The jobs that must stay: unfinished ones, and those that an unfinished tuning job resumes. By uid,
  /// including trials.
  [[nodiscard]] std::set<std::int64_t> NeededJobs() const;
  /// Digests of the images of unfinished jobs. Waits until jobs are taken over.
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
