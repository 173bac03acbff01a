#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "control/collaborators.h"
#include "control/tuning/trial_list.h"
#include "control/tuning/tuning_runner.h"

namespace trainyard::control {

/// The unfinished tuning jobs, and what is shown of any. Loop thread only.
class TuningJobs {
 public:
  /// jobs.list shows the trials of jobs that have no more of them; of larger ones the best only, so that a
  /// page stays a page. jobs.get shows all.
  static constexpr int kListedTrialsMax = 100;

  /// Both outlive it.
  TuningJobs(Collaborators& outside, TrialHost& host) : outside_(outside), host_(host) {}

  /// What a tuning job knows from the jobs that it resumes.
  using Resumed = std::vector<tuning::Trial>;
  /// The chain of resumed jobs of a new record. kFailedPrecondition, kNotFound with field
  /// "hyperparameters.resume_previous_job_id". Nothing for a job that resumes none.
  boost::asio::awaitable<Result<std::vector<std::int64_t>>> FindResumed(v1::JobRecord record);
  /// Their trials, the oldest first.
  boost::asio::awaitable<Result<Resumed>> ReadResumed(v1::JobRecord record);

  TuningRunner& Add(v1::JobRecord job, std::int64_t service_lines, Resumed resumed);
  /// Null: the job has ended, or tunes nothing.
  [[nodiscard]] TuningRunner* Find(std::int64_t uid) const;
  /// When it has ended.
  boost::asio::awaitable<void> Forget(std::int64_t uid);
  /// Before the trials' runners go.
  void Clear();
  [[nodiscard]] const std::map<std::int64_t, std::unique_ptr<TuningRunner>>& all() const { return runners_; }

  /// Those that are stored, in the order of their numbers.
  boost::asio::awaitable<Status> ReadTrials(std::int64_t tuning_uid,
                                            std::function<void(const v1::JobRecord&)> take);
  /// Fills in what the records of a tuning job's trials say: trainingOutput, jobPosition.
  boost::asio::awaitable<Status> Complete(v1::JobRecord record, ml::v1::Job& job, int trials_max);
  boost::asio::awaitable<Result<v1::JobStatus>> Describe(v1::JobRecord record);
  /// As control::ShellTarget, of whichever trial the token is for.
  [[nodiscard]] Result<engine::AttemptRef> ShellTarget(const TuningRunner& runner,
                                                       const std::string& task_name,
                                                       std::string_view token) const;

 private:
  /// Trials with long curves are megabytes: so many are read at once, and the loop has turns in between.
  static constexpr int kTrialsRead = 100;
  /// Of a job that nobody looks after: one that was cancelled before it had a record is left out.
  boost::asio::awaitable<Result<TrialList>> ListTrials(std::int64_t tuning_uid);

  Collaborators& outside_;
  TrialHost& host_;
  /// Suggestions of all tuning jobs are made here, one after the other.
  boost::asio::thread_pool thinking_{1};
  std::map<std::int64_t, std::unique_ptr<TuningRunner>> runners_;  ///< by uid
  std::map<std::int64_t, std::unique_ptr<TuningRunner>> leaving_;  ///< whose tasks are ending
};

}  // namespace trainyard::control
