#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "async/event.h"
#include "async/task_group.h"
#include "control/collaborators.h"
#include "control/job_history.h"
#include "control/job_runner.h"
#include "control/posted_events.h"
#include "control/tuning/study_thread.h"
#include "control/tuning/trial_list.h"
#include "jobs/tuning_decide.h"

namespace trainyard::control {

/// Where trials run: as jobs among the others.
class TrialHost {
 public:
  virtual ~TrialHost() = default;
  /// Stores the trial's record and looks after it from then on. `on_change` as JobRunner::Watch. Returns its
  /// uid. Errors as JobStore::Create.
  virtual boost::asio::awaitable<Result<std::int64_t>> StartTrial(v1::JobRecord trial,
                                                                  JobRunner::OnChange on_change) = 0;
  /// Null: nobody looks after it.
  virtual JobRunner* FindTrial(std::int64_t uid) = 0;
};

/// Looks after one unfinished tuning job: asks the rules what to do (jobs/tuning_decide.h) and the tuner for
/// points, starts, stops and cancels trials, and records. The only writer of the job's record while it lives.
/// Loop thread only. The destructor cancels what it waits for; trials go on living.
class TuningRunner {
 public:
  /// `outside`, `host` and `thinking` outlive it. `service_lines` as JobRunner.
  TuningRunner(Collaborators& outside, TrialHost& host, boost::asio::thread_pool& thinking, v1::JobRecord job,
               std::int64_t service_lines);
  TuningRunner(const TuningRunner&) = delete;
  TuningRunner& operator=(const TuningRunner&) = delete;

  /// What a former server's job still has to say in its log; before Start.
  void SayAgain(std::vector<jobs::ServiceLine> lines) { history_.SayAgain(std::move(lines)); }
  /// Before TakeOver and Start: the trials of the jobs that this one resumes.
  void TakeResumed(std::vector<tuning::Trial> trials);
  /// Before Start, of a former server's job: its events and the records of its trials. Trials that have not
  /// ended are looked after by runners that the host knows, and that have not started yet.
  void TakeOver(const std::vector<v1::Event>& events, const std::vector<v1::JobRecord>& trials);
  /// Starts looking after the job. `on_done` is called once it has ended.
  void Start(std::function<void()> on_done);

  void Cancel() { tasks_.Cancel(); }
  /// After on_done and before the destructor, if the loop is still running.
  boost::asio::awaitable<void> Finish();
  /// As PostedEvents::Post.
  boost::asio::awaitable<Status> Post(v1::Event event, std::optional<std::int64_t> revision) {
    return posted_.Post(std::move(event), revision);
  }

  [[nodiscard]] const v1::JobRecord& job() const noexcept { return job_; }
  /// Trials so far, as they are now.
  [[nodiscard]] const TrialList& trials() const noexcept { return trials_; }
  /// Those that run or wait: their runners.
  [[nodiscard]] std::vector<JobRunner*> Active() const;

 private:
  boost::asio::awaitable<void> Run(std::function<void()> on_done);
  boost::asio::awaitable<void> Live();
  boost::asio::awaitable<bool> PerformAll(std::vector<jobs::TuningAction> actions);
  boost::asio::awaitable<void> Record(v1::Event event);
  boost::asio::awaitable<void> StartTrial(std::string trial_id);
  boost::asio::awaitable<void> Perform(jobs::SuggestTrials action);
  boost::asio::awaitable<void> Perform(jobs::StopTrial action);
  boost::asio::awaitable<void> Perform(jobs::CancelTrial action);
  boost::asio::awaitable<void> Perform(jobs::WakeTuningAt action);
  boost::asio::awaitable<void> Suggest(int count);
  boost::asio::awaitable<void> Judge(std::string trial_id);
  boost::asio::awaitable<void> StopTrial(std::string trial_id, std::string reason);
  boost::asio::awaitable<void> CancelTrial(std::string trial_id, std::string reason);
  void Follow(const v1::Event& event);
  void Observe(const v1::JobRecord& trial, const replica::v1::MetricReport& report);
  [[nodiscard]] JobRunner::OnChange Observer();
  [[nodiscard]] jobs::SeenTrial* Seen(const std::string& trial_id);
  [[nodiscard]] JobRunner* Runner(const std::string& trial_id) const;
  [[nodiscard]] std::size_t PlaceOf(const std::string& trial_id) const;

  Collaborators& outside_;
  TrialHost& host_;
  JobHistory history_;
  const v1::JobRecord& job_ = history_.job();
  TrialList trials_;
  jobs::TuningObservation seen_;
  StudyThread study_;
  tuning::Space space_;
  std::size_t resumed_ = 0;                   ///< so many trials of the study are of resumed jobs
  std::map<std::string, v1::Event> created_;  ///< TrialCreated of those that have not ended
  std::map<std::string, bool> judging_;       ///< true: the trial has reported something new meanwhile
  bool judging_fails_ = false;                ///< and that was said
  std::optional<SysTime> wake_time_;          ///< when the rules want to be asked again
  Event wake_;
  PostedEvents posted_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
