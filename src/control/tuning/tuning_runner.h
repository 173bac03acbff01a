#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "control/collaborators.h"
#include "control/intake/image_lookups.h"
#include "control/run/job_runner.h"
#include "control/run/record_loop.h"
#include "control/tuning/study_thread.h"
#include "control/tuning/trial_list.h"
#include "rules/jobs/tuning_decide.h"
#include "rules/jobs/waiting.h"

namespace trainyard::control {

/// Runs trials in the same way as all other jobs.
class TrialHost {
 public:
  virtual ~TrialHost() = default;
  /// Stores the trial's record and manages the trial from then on. `on_change` as JobRunner::Watch. Returns
  /// its uid. Errors as JobStore::Create.
  virtual boost::asio::awaitable<Result<std::int64_t>> StartTrial(v1::JobRecord trial,
                                                                  JobRunner::OnChange on_change) = 0;
  /// Null: the trial has no runner.
  virtual JobRunner* FindTrial(std::int64_t uid) = 0;
};

/// Manages one unfinished tuning job: asks the rules what to do (rules/jobs/tuning_decide.h) and the tuner
/// for points, starts, stops and cancels trials, and records events. While it lives, nobody else writes the
/// job's record. Loop thread only. The destructor cancels its tasks; trials continue.
class TuningRunner {
 public:
  /// `outside`, `host` and `thinking` outlive it. `service_lines` as JobRunner.
  TuningRunner(Collaborators& outside, TrialHost& host, boost::asio::thread_pool& thinking, v1::JobRecord job,
               std::int64_t service_lines);
  TuningRunner(const TuningRunner&) = delete;
  TuningRunner& operator=(const TuningRunner&) = delete;

  /// Call it before Start. Log lines of a previous server process that are not stored yet.
  void SayAgain(std::vector<jobs::ServiceLine> lines) { records_.SayAgain(std::move(lines)); }
  /// Call it before TakeOver and Start. The trials of the jobs that this one resumes.
  void TakeResumed(std::vector<tuning::Trial> trials);
  /// Call it before Start, for a job of a previous server process, with its events and the records of its
  /// trials. The host has runners for the trials that have not ended; these have not started yet.
  void TakeOver(const std::vector<v1::Event>& events, const std::vector<v1::JobRecord>& trials);
  /// Starts managing the job. `on_done` is called once it has ended.
  void Start(std::function<void()> on_done);

  void Cancel() {
    look_up_.Stop();
    tasks_.Cancel();
  }
  /// Call it after on_done and before the destructor, if the loop is still running.
  boost::asio::awaitable<void> Finish();
  /// As RecordLoop::Post.
  boost::asio::awaitable<Status> Post(v1::Event event, std::optional<std::int64_t> revision) {
    return records_.Post(std::move(event), revision);
  }

  [[nodiscard]] const v1::JobRecord& job() const noexcept { return job_; }
  /// What the job itself waits for before it has trials; nothing if it does not wait.
  [[nodiscard]] std::optional<jobs::Waiting> WhyWaiting() const {
    return jobs::WaitForImages(job_, seen_.images);
  }
  /// All trials so far, in their current state.
  [[nodiscard]] const TrialList& trials() const noexcept { return trials_; }
  /// The runners of the trials that have not ended.
  [[nodiscard]] std::vector<JobRunner*> Active() const;

 private:
  boost::asio::awaitable<void> Run(std::function<void()> on_done);
  boost::asio::awaitable<RecordLoop::Turn> TakeTurn(const v1::JobRecord& job, SysTime now);
  boost::asio::awaitable<bool> PerformActions(std::vector<jobs::TuningAction> actions);
  boost::asio::awaitable<void> Record(v1::Event event);
  boost::asio::awaitable<void> StartTrial(std::string trial_id);
  boost::asio::awaitable<void> Perform(jobs::ResolveImages action);
  boost::asio::awaitable<void> Perform(jobs::SuggestTrials action);
  boost::asio::awaitable<void> Perform(jobs::StopTrial action);
  boost::asio::awaitable<void> Perform(jobs::CancelTrial action);
  boost::asio::awaitable<void> Perform(jobs::WakeTuningAt action);
  boost::asio::awaitable<void> Suggest(int count);
  boost::asio::awaitable<void> JudgeTrial(std::string trial_id);
  boost::asio::awaitable<void> StopTrial(std::string trial_id, std::string reason);
  boost::asio::awaitable<void> CancelTrial(std::string trial_id, std::string reason);
  void Follow(const v1::Event& event);
  void Observe(const v1::JobRecord& trial, const replica::v1::MetricReport& report);
  [[nodiscard]] JobRunner::OnChange Observer();
  [[nodiscard]] jobs::ObservedTrial* Seen(const std::string& trial_id);
  [[nodiscard]] JobRunner* Runner(const std::string& trial_id) const;
  [[nodiscard]] std::size_t PlaceOf(const std::string& trial_id) const;

  Collaborators& outside_;
  TrialHost& host_;
  RecordLoop records_;
  const v1::JobRecord& job_ = records_.job();
  Event& wake_ = records_.wake();
  TrialList trials_;
  jobs::TuningObservation seen_;
  StudyThread study_;
  tuning::Space space_;
  std::size_t resumed_ = 0;                   ///< how many trials of the study belong to resumed jobs
  std::map<std::string, v1::Event> created_;  ///< TrialCreated of the trials that have not ended
  std::map<std::string, bool> judging_;       ///< being judged; true: the trial has reported again meanwhile
  bool judging_fails_ = false;                ///< the last judgement failed, and a warning said so
  std::optional<SysTime> wake_time_;          ///< when the rules want to be asked again
  QueuedLookUp look_up_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
