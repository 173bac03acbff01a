#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/event.h"
#include "async/task_group.h"
#include "control/collaborators.h"
#include "control/service_log.h"
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

  /// What a former server's job still has to say in its log; before Start.
  void SayAgain(std::vector<jobs::ServiceLine> lines) {
    service_log_.Say(job_, std::move(lines), outside_.clock.Now());
  }

  /// Starts looking after the job. `created`: its first event was just recorded; otherwise a former server's
  /// job is taken over. `on_done` is called once the job has ended and nothing of it is left on this machine.
  void Start(bool created, std::function<void()> on_done);

  /// After on_done and before the destructor, if the loop is still running.
  boost::asio::awaitable<void> Finish();

  /// Records an event of the API (cancel, patch) in its turn. Durable when it returns; errors as jobs::Apply.
  boost::asio::awaitable<Status> Post(v1::Event event);

  [[nodiscard]] const v1::JobRecord& job() const noexcept { return job_; }

  // What supervisors and the engine report about the attempt of replica `replica` with number `attempt`.
  void OnHello(std::shared_ptr<engine::ReplicaLink> link, int replica, int attempt, replica::v1::Phase phase);
  boost::asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, int replica, int attempt,
                                       engine::FromReplica frame);
  void OnClosed(const engine::ReplicaLink* link, int replica);
  void OnGone(int replica, int attempt);

  /// Position of the attempt's replica in the record; -1 if the job has no such replica.
  [[nodiscard]] int FindReplica(const std::string& task_name) const;

 private:
  struct Posted {
    v1::Event event;
    Status* result;
    Event* done;
  };
  /// An attempt whose supervisor may still be there or whose folder is.
  struct Leftover {
    bool gone = false;      ///< the supervisor has ended
    bool recorded = false;  ///< its exit is in the job's record
    bool removing = false;
  };
  using AttemptKey = std::pair<int, int>;  ///< replica, attempt

  boost::asio::awaitable<void> Run(bool created, std::function<void()> on_done);
  boost::asio::awaitable<void> TakeOver();
  boost::asio::awaitable<void> TakeOverReplica(int replica);
  boost::asio::awaitable<void> Live();
  boost::asio::awaitable<bool> PerformAll(std::vector<jobs::Action> actions);
  boost::asio::awaitable<void> PerformPosted();
  boost::asio::awaitable<void> Perform(jobs::StartReplica action);
  void Perform(const jobs::OpenBarrier& action);
  void Perform(const jobs::StopReplica& action);
  boost::asio::awaitable<Status> Record(v1::Event event);
  void AfterEvent(const v1::Event& event);
  boost::asio::awaitable<void> CollectRemains(int replica, int attempt);
  boost::asio::awaitable<void> AppendDurably(logs::LogSource source, replica::v1::LogChunk chunk);
  boost::asio::awaitable<void> RemoveAttempt(int replica, int attempt);
  void SweepLeftover(const AttemptKey& key);
  void SetExit(int replica, int attempt, replica::v1::ExitRecord exit);
  [[nodiscard]] bool IsCurrent(int replica, int attempt) const;

  Collaborators& outside_;
  v1::JobRecord job_;
  jobs::Observation seen_;
  ServiceLog service_log_;
  std::vector<std::shared_ptr<engine::ReplicaLink>> links_;  ///< by replica; null while not connected
  std::map<AttemptKey, Leftover> leftovers_;
  std::deque<Posted> posted_;
  Event wake_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
