#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "control/collaborators.h"
#include "control/intake/image_lookups.h"
#include "control/run/job_attempts.h"
#include "control/run/job_room.h"
#include "control/run/job_status.h"
#include "control/run/manifest.h"
#include "control/run/record_loop.h"
#include "control/run/wait_log.h"
#include "control/tuning/trial_metrics.h"
#include "engine/replica_link.h"
#include "rules/jobs/decide.h"

namespace trainyard::control {

/// Manages one unfinished job: asks the rules what to do (rules/jobs/decide.h), does it, records each event
/// before its effects, and asks again; sleeps while there is nothing to do. The only writer of the job's
/// record while it exists. Loop thread only. The destructor cancels its own work; supervisors and their
/// replicas continue to run.
class JobRunner final : private JobAttempts::Observer {
 public:
  /// `service_lines` is how many lines the job's events so far have produced.
  JobRunner(Collaborators& outside, v1::JobRecord job, std::int64_t service_lines);
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// For a trial: called after each of its events and each new report of its program. Set it before Start.
  using OnChange = std::function<void(const JobRunner& trial)>;
  void Watch(OnChange on_change) { on_change_ = std::move(on_change); }
  /// What the trial's program has reported so far.
  [[nodiscard]] const replica::v1::MetricReport& report() const;

  /// Log lines of a previous server that may not be in the job's log yet; call before Start.
  void SayAgain(std::vector<jobs::ServiceLine> lines) { records_.SayAgain(std::move(lines)); }

  /// Adds a line to the job's log that does not follow from its events.
  void Warn(std::string text);

  /// For a job that is not stored yet, whose first event is `created`: asks for room, if that can be undone,
  /// and returns the steps to store: the first one and, if there is room now, those that follow from it. Then
  /// call TakeFirst and Start; if they cannot be stored, destroy the runner, which returns the room.
  boost::asio::awaitable<jobs::Steps> Begin(v1::Event created);
  void TakeFirst(jobs::Steps stored) { records_.TakeFirst(std::move(stored)); }

  /// Starts managing a job whose first event was just recorded. `on_done` is called once the job has ended
  /// and nothing of it is left on this machine.
  void Start(std::function<void()> on_done);

  /// The same for a job of a previous server; `attempts` are those that an attempt host still has. Running
  /// ones are adopted, ended ones collected, and those never started are started; but none is started while
  /// the host cannot tell its state.
  void TakeOver(const std::vector<engine::AttemptRef>& attempts, std::function<void()> on_done);

  /// Makes all waiting tasks end soon and starts nothing more: call it before many runners are destroyed.
  void Cancel() {
    attempts_.Cancel();
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

  [[nodiscard]] std::optional<placement::Wait> WaitForRoom() const { return room_.Wait(); }
  /// Why it is not running yet; nothing if it runs or has run.
  [[nodiscard]] std::optional<jobs::Waiting> WhyWaiting() const {
    return WaitingOf(job_, seen_, WaitForRoom(), outside_.settings.stop_grace);
  }
  [[nodiscard]] v1::JobStatus Describe() const;

  /// The number of attempts that run or may run.
  [[nodiscard]] int CountLiving() const { return control::CountLiving(job_, seen_); }

  // Reports of supervisors and the attempt host about the given attempt of a replica.
  void OnHello(std::shared_ptr<engine::ReplicaLink> link, int replica, int attempt, replica::v1::Phase phase);
  /// Any frame except log lines.
  void OnFrame(engine::ReplicaLink& link, int replica, int attempt, engine::FromReplica frame);
  /// Lines of its program or of its preparation.
  void OnLines(int replica, int attempt) {
    if (IsOpen(replica, attempt)) Seen(replica).last_output = outside_.clock.Now();
  }
  void OnClosed(const engine::ReplicaLink* link, int replica);
  void OnGone(int replica, int attempt) { attempts_.OnGone(replica, attempt); }

  /// The attempt is the replica's current one and its end is not recorded.
  [[nodiscard]] bool IsOpen(int replica, int attempt) const override;

 private:
  // JobAttempts::Observer
  [[nodiscard]] bool IsEndSeen(int replica) const override {
    return seen_.replicas[static_cast<std::size_t>(replica)].exit.has_value();
  }
  [[nodiscard]] bool IsAttached(int replica) const override {
    return links_[static_cast<std::size_t>(replica)] != nullptr;
  }
  void OnTrouble(int replica, int attempt, std::string why) override;
  void OnAbsent(int replica, int attempt) override;
  void OnRemains(int replica, int attempt, engine::AttemptHost::Remains remains) override;
  void OnForgotten() override { wake_.Set(); }

  boost::asio::awaitable<void> Run(std::function<void()> on_done);
  boost::asio::awaitable<RecordLoop::Turn> TakeTurn(const v1::JobRecord& job, SysTime now);
  std::optional<SysTime> LookAtWait(SysTime now);
  boost::asio::awaitable<bool> PerformAll(std::vector<jobs::Action> actions);
  boost::asio::awaitable<void> Perform(jobs::AppendEvent action);
  boost::asio::awaitable<void> Perform(jobs::ResolveImages action);
  boost::asio::awaitable<void> Perform(jobs::ReserveRoom action);
  boost::asio::awaitable<void> Perform(jobs::StartReplica action);
  boost::asio::awaitable<void> Perform(jobs::OpenBarrier action);
  boost::asio::awaitable<void> Perform(jobs::StopReplica action);
  boost::asio::awaitable<void> Perform(jobs::MeasureTrial action);
  boost::asio::awaitable<void> Perform(jobs::WakeAt action);
  void TakeReport(int replica, int attempt, replica::v1::MetricReport said);
  void AfterEvent(const v1::Event& event);
  bool SetExit(int replica, int attempt, replica::v1::ExitRecord exit);
  [[nodiscard]] jobs::ReplicaObservation& Seen(int replica) {
    return seen_.replicas[static_cast<std::size_t>(replica)];
  }

  Collaborators& outside_;
  RecordLoop records_;
  const v1::JobRecord& job_ = records_.job();
  Event& wake_ = records_.wake();
  jobs::Observation seen_;
  std::vector<std::shared_ptr<engine::ReplicaLink>> links_;  ///< by replica; null while not connected
  WaitLog wait_log_;
  std::unique_ptr<TrialWatch> trial_;  ///< null: the job is not a trial
  OnChange on_change_;
  JobRoom room_;
  JobAttempts attempts_;
  QueuedLookUp look_up_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
