#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/event.h"
#include "async/task_group.h"
#include "control/collaborators.h"
#include "control/job_history.h"
#include "control/job_status.h"
#include "control/manifest.h"
#include "control/posted_events.h"
#include "control/tuning/trial_watch.h"
#include "control/wait_log.h"
#include "engine/replica_link.h"
#include "jobs/decide.h"

namespace trainyard::control {

/// Looks after one unfinished job: asks the rules what to do (jobs/decide.h), does it, records each event
/// before its effects, and asks again; sleeps while there is nothing to do. The only writer of the job's
/// record while it lives. Loop thread only. The destructor cancels what it waits for; supervisors and their
/// replicas go on living.
class JobRunner {
 public:
  /// `service_lines` is how many lines the job's events so far have produced.
  JobRunner(Collaborators& outside, v1::JobRecord job, std::int64_t service_lines);
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// Of a trial: called after each of its events and each new report of its program. Before Start.
  using OnChange = std::function<void(const JobRunner& trial)>;
  void Watch(OnChange on_change) { on_change_ = std::move(on_change); }
  /// What the trial's program has reported so far.
  [[nodiscard]] const replica::v1::MetricReport& report() const;

  /// What a previous server's job still has to say in its log; before Start.
  void SayAgain(std::vector<jobs::ServiceLine> lines) { history_.SayAgain(std::move(lines)); }

  /// Starts looking after a job whose first event was just recorded. `on_done` is called once the job has
  /// ended and nothing of it is left on this machine.
  void Start(std::function<void()> on_done);

  /// The same for a job of a previous server; `attempts` are those of it that an attempt host still has. What
  /// lives is adopted, what has ended is collected, what was never started is started; nothing is while the
  /// host can't tell.
  void TakeOver(const std::vector<engine::AttemptRef>& attempts, std::function<void()> on_done);

  /// What it waits for ends soon, and nothing more is done: before the destructor of many.
  void Cancel() { tasks_.Cancel(); }

  /// After on_done and before the destructor, if the loop is still running.
  boost::asio::awaitable<void> Finish();

  /// As PostedEvents::Post.
  boost::asio::awaitable<Status> Post(v1::Event event, std::optional<std::int64_t> revision) {
    return posted_.Post(std::move(event), revision);
  }

  [[nodiscard]] const v1::JobRecord& job() const noexcept { return job_; }

  /// Why and where it waits for room; nothing if it doesn't.
  [[nodiscard]] std::optional<placement::Wait> WaitForRoom() const;
  /// Why it does not run yet; nothing if it runs or has run.
  [[nodiscard]] std::optional<jobs::Waiting> WhyWaiting() const;
  [[nodiscard]] v1::JobStatus Describe() const;

  /// Attempts that live or may.
  [[nodiscard]] int CountLiving() const;

  // What supervisors and the attempt host report about the attempt of replica `replica` with number
  // `attempt`.
  void OnHello(std::shared_ptr<engine::ReplicaLink> link, int replica, int attempt, replica::v1::Phase phase);
  /// Any frame but log lines.
  void OnFrame(engine::ReplicaLink& link, int replica, int attempt, engine::FromReplica frame);
  void OnClosed(const engine::ReplicaLink* link, int replica);
  void OnGone(int replica, int attempt);

  /// The attempt is the replica's current one and its end is not recorded.
  [[nodiscard]] bool IsOpen(int replica, int attempt) const;
  /// Position of the attempt's replica in the record; -1 if the job has no such replica.
  [[nodiscard]] int FindReplica(const std::string& task_name) const;

 private:
  /// An attempt whose supervisor may still be there, or what it left.
  struct Leftover {
    engine::AttemptRef attempt{};
    bool gone = false;      ///< the supervisor has ended
    bool recorded = false;  ///< its exit is in the job's record
    bool removing = false;
  };
  using AttemptKey = std::pair<int, int>;  ///< replica, attempt

  void Begin(std::function<void()> on_done);
  [[nodiscard]] engine::ReservationKey Reservation(int try_number) const;
  void Reserve(int try_number, std::optional<engine::Grant> granted);
  boost::asio::awaitable<void> Run(std::function<void()> on_done);
  boost::asio::awaitable<void> Adopt(int replica, int attempt);
  boost::asio::awaitable<void> Live();
  boost::asio::awaitable<bool> PerformAll(std::vector<jobs::Action> actions);
  boost::asio::awaitable<void> Perform(jobs::AppendEvent action);
  boost::asio::awaitable<void> Perform(jobs::ReserveRoom action);
  boost::asio::awaitable<void> Perform(jobs::StartReplica action);
  boost::asio::awaitable<void> Perform(jobs::OpenBarrier action);
  boost::asio::awaitable<void> Perform(jobs::StopReplica action);
  boost::asio::awaitable<void> Perform(jobs::MeasureTrial action);
  boost::asio::awaitable<void> Perform(jobs::WakeAt action);
  void TakeReport(int replica, replica::v1::MetricReport report);
  boost::asio::awaitable<void> KillAttempt(int replica, int attempt);
  void AfterEvent(const v1::Event& event);
  boost::asio::awaitable<void> RecordRemains(int replica, int attempt);
  boost::asio::awaitable<void> RemoveAttempt(int replica, int attempt);
  void SweepLeftover(const AttemptKey& key);
  bool SetExit(int replica, int attempt, replica::v1::ExitRecord exit);
  [[nodiscard]] jobs::ReplicaObservation& Seen(int replica) {
    return seen_.replicas[static_cast<std::size_t>(replica)];
  }
  /// Where the attempt is: as it was found or started.
  [[nodiscard]] engine::AttemptRef RefOf(int replica, int attempt) const;
  [[nodiscard]] std::chrono::milliseconds retry_pause() const { return outside_.settings.retry_pause; }

  Collaborators& outside_;
  JobHistory history_;
  const v1::JobRecord& job_ = history_.job();
  jobs::Observation seen_;
  std::vector<std::shared_ptr<engine::ReplicaLink>> links_;  ///< by replica; null while not connected
  WaitLog wait_log_;
  std::map<AttemptKey, Leftover> leftovers_;
  std::unique_ptr<TrialWatch> trial_;  ///< null: it is no trial
  OnChange on_change_;
  Event wake_;
  PostedEvents posted_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
