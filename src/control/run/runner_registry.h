#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "control/collaborators.h"
#include "control/run/job_runner.h"
#include "control/tuning/tuning_jobs.h"
#include "control/upkeep/figures.h"

namespace trainyard::control {

/// The runners of the unfinished jobs: a JobRunner for each job and trial, a TuningRunner for each tuning
/// job. Adds them, finds them, and removes them when they are done. Loop thread only. The destructor stops
/// managing jobs; running attempts continue.
class RunnerRegistry final : private TrialHost {
 public:
  /// `outside` outlives it.
  explicit RunnerRegistry(Collaborators& outside);
  ~RunnerRegistry() override;
  RunnerRegistry(const RunnerRegistry&) = delete;
  RunnerRegistry& operator=(const RunnerRegistry&) = delete;

  /// A job of a previous server, with the log lines that may not be written yet.
  struct PreviousJob {
    v1::JobRecord job;
    std::int64_t lines_stored = 0;
    std::vector<jobs::ServiceLine> lines_left;
    // Only for a tuning job:
    std::vector<v1::Event> events{};
    std::vector<v1::JobRecord> trials{};
    TuningJobs::Resumed resumed{};
  };

  /// A job, not a tuning job, that is about to be stored.
  struct Coming {
    std::unique_ptr<JobRunner> runner;
    jobs::Steps steps;  ///< to be stored; the first one's event is the job's Created
  };
  /// As JobRunner::Begin.
  boost::asio::awaitable<Coming> Prepare(jobs::Step created);
  /// Starts managing a job whose steps were just recorded.
  void Start(Coming stored);
  /// Starts managing a tuning job whose first event, with these log lines, was just recorded.
  void StartTuning(v1::JobRecord job, std::vector<jobs::ServiceLine> lines, TuningJobs::Resumed resumed);
  using AttemptsOfJobs = std::map<std::int64_t, std::vector<engine::AttemptRef>>;  ///< by uid
  /// Takes over jobs of a previous server, in one turn of the loop. The first call must have all that hold
  /// room, and all tuning jobs with their trials: nothing is admitted before running attempts, and their
  /// ports, are known.
  void TakeOver(std::vector<PreviousJob> jobs, const AttemptsOfJobs& attempts);

  /// Null: the job has no runner, or is a tuning job.
  [[nodiscard]] JobRunner* Find(std::int64_t uid) const;
  [[nodiscard]] TuningJobs& tuning() noexcept { return tuning_; }
  [[nodiscard]] const TuningJobs& tuning() const noexcept { return tuning_; }
  [[nodiscard]] const std::map<std::int64_t, std::unique_ptr<JobRunner>>& all() const { return runners_; }

  /// An attempt id taken apart; `runner` is null if its job has no runner any more.
  struct Attempt {
    JobRunner* runner = nullptr;
    int replica = -1;
    int number = 0;
  };
  [[nodiscard]] Attempt FindAttempt(std::string_view attempt_id) const;

  /// Waits until a runner is added, but not longer than `wait_max`.
  boost::asio::awaitable<void> WaitForRunner(std::chrono::milliseconds wait_max);

  /// Adds its numbers: unfinished and ended jobs, supervisors.
  void CountInto(Figures& figures) const;

 private:
  // TrialHost
  boost::asio::awaitable<Result<std::int64_t>> StartTrial(v1::JobRecord trial,
                                                          JobRunner::OnChange on_change) override;
  JobRunner* FindTrial(std::int64_t uid) override { return Find(uid); }
  boost::asio::awaitable<Status> StoreTrial(const jobs::Steps& steps);

  JobRunner& Add(std::unique_ptr<JobRunner> runner);
  void TakeOverTuning(PreviousJob previous);
  std::function<void()> OnDone(std::int64_t uid);
  boost::asio::awaitable<void> Forget(std::int64_t uid);
  std::function<void()> OnTuningDone(std::int64_t uid);
  boost::asio::awaitable<void> ForgetTuning(std::int64_t uid);

  Collaborators& outside_;
  bool stopping_ = false;
  TuningJobs tuning_;
  std::map<std::int64_t, std::unique_ptr<JobRunner>>
      runners_;  ///< by uid: trials, and all jobs except tuning jobs
  std::map<std::int64_t, std::unique_ptr<JobRunner>> leaving_;  ///< runners whose tasks are ending
  Figures counted_;                                             ///< jobs that have ended
  Event added_;                                                 ///< wakes those who wait for a runner
  TaskGroup tasks_;
};

}  // namespace trainyard::control
