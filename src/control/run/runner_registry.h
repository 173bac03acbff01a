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

/// Whoever looks after the unfinished jobs: a JobRunner for each job and trial, a TuningRunner for each
/// tuning job. Adds them, finds them, and forgets them when they are done. Loop thread only. The destructor
/// stops looking after jobs; what runs, runs on.
class RunnerRegistry final : private TrialHost {
 public:
  /// `outside` outlives it.
  explicit RunnerRegistry(Collaborators& outside);
  ~RunnerRegistry() override;
  RunnerRegistry(const RunnerRegistry&) = delete;
  RunnerRegistry& operator=(const RunnerRegistry&) = delete;

  /// A job of a previous server, with what it still has to say in its log.
  struct PreviousJob {
    v1::JobRecord job;
    std::int64_t lines_stored = 0;
    std::vector<jobs::ServiceLine> lines_left;
    // Of a tuning job:
    std::vector<v1::Event> events{};
    std::vector<v1::JobRecord> trials{};
    TuningJobs::Resumed resumed{};
  };

  /// Looks after a job whose first event was just recorded. `lines`: what that event says in the log;
  /// `resumed`: of a tuning job.
  void Start(v1::JobRecord job, std::vector<jobs::ServiceLine> lines, TuningJobs::Resumed resumed);
  /// Takes over the jobs of a previous server, all in one turn of the loop: nobody is admitted before it is
  /// known who runs, and with which ports. `attempts`: by job uid.
  void TakeOver(std::vector<PreviousJob> jobs,
                const std::map<std::int64_t, std::vector<engine::AttemptRef>>& attempts);

  /// Null: nobody looks after it, or it is a tuning job.
  [[nodiscard]] JobRunner* Find(std::int64_t uid) const;
  [[nodiscard]] TuningJobs& tuning() noexcept { return tuning_; }
  [[nodiscard]] const TuningJobs& tuning() const noexcept { return tuning_; }
  [[nodiscard]] const std::map<std::int64_t, std::unique_ptr<JobRunner>>& all() const { return runners_; }

  /// An attempt id taken apart; `runner` is null when its job needs no looking after any more.
  struct Attempt {
    JobRunner* runner = nullptr;
    int replica = -1;
    int number = 0;
  };
  [[nodiscard]] Attempt FindAttempt(std::string_view attempt_id) const;

  /// Until a runner is added, but no longer.
  boost::asio::awaitable<void> WaitForRunner(std::chrono::milliseconds wait_max);

  /// Adds what it knows: unfinished and ended jobs, supervisors.
  void CountInto(Figures& figures) const;

 private:
  // TrialHost
  boost::asio::awaitable<Result<std::int64_t>> StartTrial(v1::JobRecord trial,
                                                          JobRunner::OnChange on_change) override;
  JobRunner* FindTrial(std::int64_t uid) override { return Find(uid); }

  JobRunner& Add(v1::JobRecord job, std::int64_t service_lines);
  void TakeOverTuning(PreviousJob previous);
  std::function<void()> OnDone(std::int64_t uid);
  boost::asio::awaitable<void> Forget(std::int64_t uid);
  std::function<void()> OnTuningDone(std::int64_t uid);
  boost::asio::awaitable<void> ForgetTuning(std::int64_t uid);

  Collaborators& outside_;
  bool stopping_ = false;
  TuningJobs tuning_;
  std::map<std::int64_t, std::unique_ptr<JobRunner>>
      runners_;  ///< by uid: every job but tuning jobs, and trials
  std::map<std::int64_t, std::unique_ptr<JobRunner>> leaving_;  ///< whose tasks are ending
  Figures counted_;                                             ///< jobs that have ended
  Event added_;                                                 ///< wakes whoever waits for a runner
  TaskGroup tasks_;
};

}  // namespace trainyard::control
