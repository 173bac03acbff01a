#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "control/collaborators.h"
#include "control/tuning/insight_thread.h"
#include "control/tuning/trial_list.h"
#include "control/tuning/tuning_runner.h"

namespace trainyard::control {

/// The unfinished tuning jobs, and the displayed state of all. Loop thread only.
class TuningJobs {
 public:
  /// jobs.list shows all trials of a job that has at most this many, and only the best one of a larger job,
  /// so that pages stay small. jobs.get shows all.
  static constexpr int kListedTrialsMax = 100;

  /// Both outlive it.
  TuningJobs(Collaborators& outside, TrialHost& host) : outside_(outside), host_(host) {}

  /// What a tuning job takes over from the jobs that it resumes.
  using Resumed = std::vector<tuning::Trial>;
  /// The job that a new one resumes; nothing: it resumes none, or one that FindResumed refuses.
  boost::asio::awaitable<Result<std::optional<v1::JobRecord>>> FindPrevious(std::string project,
                                                                            std::string job_id);
  /// The chain of resumed jobs of a new record. kFailedPrecondition, kNotFound with field
  /// "hyperparameters.resume_previous_job_id". Nothing for a job that resumes none.
  boost::asio::awaitable<Result<std::vector<std::int64_t>>> FindResumed(v1::JobRecord record);
  /// The trials of those jobs, the oldest first.
  boost::asio::awaitable<Result<Resumed>> ReadResumed(v1::JobRecord record);

  TuningRunner& Add(v1::JobRecord job, std::int64_t service_lines, Resumed resumed);
  /// Null: the job has ended, or is not a tuning job.
  [[nodiscard]] TuningRunner* Find(std::int64_t uid) const;
  /// Call it when the job has ended.
  boost::asio::awaitable<void> Forget(std::int64_t uid);
  /// Call it before the trials' runners are destroyed.
  void Clear();
  [[nodiscard]] const std::map<std::int64_t, std::unique_ptr<TuningRunner>>& all() const { return runners_; }

  /// The trials that are stored, in the order of their numbers.
  boost::asio::awaitable<Status> ReadTrials(std::int64_t tuning_uid,
                                            std::function<void(const v1::JobRecord&)> take);
  /// A page of the stored trials with uid > after_uid, running ones with what they reported so far.
  boost::asio::awaitable<Result<std::vector<v1::JobRecord>>> TrialsNow(std::int64_t tuning_uid,
                                                                       std::int64_t after_uid);
  /// As tuning::InsightOf, with the reasons of early stops; a note if the job is not a tuning job. kInternal:
  /// the model threw an exception.
  boost::asio::awaitable<Result<tuning::Insight>> Explain(v1::JobRecord record);
  /// Computes insights, also those of studies.
  [[nodiscard]] InsightThread& insights() noexcept { return insights_; }
  /// Fills in what the records of a tuning job's trials say: trainingOutput, jobPosition.
  boost::asio::awaitable<Status> Complete(v1::JobRecord record, ml::v1::Job& job, int trials_max);
  boost::asio::awaitable<Result<v1::JobStatus>> Describe(v1::JobRecord record);
  /// As control::ShellTarget, of whichever trial the token is for.
  [[nodiscard]] Result<engine::AttemptRef> ShellTarget(const TuningRunner& runner,
                                                       const std::string& task_name,
                                                       std::string_view token) const;

 private:
  /// How many trials are read at once. Trials with long curves take megabytes, so the loop does other work
  /// between two pages.
  static constexpr int kTrialsRead = 100;
  /// Reads the trials of a job that has no runner. A trial that was cancelled before it had a record is left
  /// out.
  boost::asio::awaitable<Result<TrialList>> ListTrials(std::int64_t tuning_uid);
  boost::asio::awaitable<Result<InsightThread::Study>> ReadStudy(std::shared_ptr<const v1::JobRecord> record);

  Collaborators& outside_;
  TrialHost& host_;
  /// Suggestions of all tuning jobs are made here, one after the other.
  boost::asio::thread_pool thinking_{1};
  InsightThread insights_;
  std::map<std::int64_t, std::unique_ptr<TuningRunner>> runners_;  ///< by uid
  std::map<std::int64_t, std::unique_ptr<TuningRunner>> leaving_;  ///< those whose tasks are ending
};

}  // namespace trainyard::control
