#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task_group.h"
#include "control/collaborators.h"
#include "control/run/pause.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The attempts of one job that run, may run, or have left files with their host: adopts those of a previous
/// server, kills them, collects what ended ones left, and removes that once their end is recorded. Loop
/// thread only. The destructor cancels its own work; attempts continue to run.
class JobAttempts {
 public:
  /// The runner that decides about the job. `replica` is a position in the record.
  class Observer {
   public:
    virtual ~Observer() = default;
    /// The attempt is the replica's current one and its end is not recorded.
    [[nodiscard]] virtual bool IsOpen(int replica, int attempt) const = 0;
    /// The end of the current attempt is known, and about to be recorded.
    [[nodiscard]] virtual bool IsEndSeen(int replica) const = 0;
    /// The supervisor of the current attempt is connected.
    [[nodiscard]] virtual bool IsAttached(int replica) const = 0;
    /// Why the attempt cannot be managed now, one sentence; empty: the problem is over.
    virtual void OnTrouble(int replica, int attempt, std::string why) = 0;
    /// The attempt was never started.
    virtual void OnAbsent(int replica, int attempt) = 0;
    /// The attempt has ended, or is lost; all of its lines are stored.
    virtual void OnRemains(int replica, int attempt, engine::AttemptHost::Remains remains) = 0;
    /// Everything of an attempt was removed.
    virtual void OnForgotten() = 0;
  };

  /// All outlive it.
  JobAttempts(Collaborators& outside, const v1::JobRecord& job, Observer& observer);

  [[nodiscard]] bool empty() const noexcept { return known_.empty(); }

  /// Finds out the state of the job's attempts of a previous server: `listed` are those that their host still
  /// has; any attempt without a recorded end may still run.
  void TakeOver(const std::vector<engine::AttemptRef>& listed);
  /// Starts the replica's current attempt, or, if a secret that it needs is missing, reports its end. On an
  /// error the attempt is certainly dead; `is_clean`: nothing of it is left, and the same attempt may be
  /// started again later.
  struct Started {
    Status status;
    bool is_clean = false;
  };
  boost::asio::awaitable<Started> Start(int replica, int attempt);
  /// The attempt's supervisor is no longer connected.
  void OnDetached(int replica, int attempt) { tasks_.Spawn(AwaitAttach({replica, attempt})); }
  /// For a supervisor that does not follow commands, or cannot be reached.
  void Kill(int replica, int attempt);
  /// The supervisor and all processes of the attempt have ended.
  void OnGone(int replica, int attempt);
  /// The end of the attempt is in the job's record.
  void OnRecorded(int replica, int attempt);

  void Cancel() { tasks_.Cancel(); }
  boost::asio::awaitable<void> Finish();

 private:
  using Key = std::pair<int, int>;  ///< replica, attempt
  struct Known {
    engine::AttemptRef ref;
    bool gone = false;      ///< the supervisor has ended
    bool recorded = false;  ///< its exit is in the job's record
    bool forgetting = false;
    bool awaited = false;  ///< AwaitAttach is running
    Trouble trouble{};
    std::string killed{};  ///< why this server killed it before its job ended
  };

  Known& Add(int replica, int attempt);
  void NeverStarted(int replica, int attempt, replica::v1::ExitRecord exit);
  boost::asio::awaitable<void> Adopt(Key key);
  boost::asio::awaitable<void> AdoptLiving(Key key);
  boost::asio::awaitable<void> TakeOverAbsent(Key key);
  boost::asio::awaitable<void> AwaitAttach(Key key);
  [[nodiscard]] bool IsAwaited(const Key& key) const;
  boost::asio::awaitable<std::string> WhyRefused(engine::AttemptRef ref);
  boost::asio::awaitable<void> End(Key key, std::string why);
  boost::asio::awaitable<void> KillUntilDone(Key key, std::chrono::milliseconds wait);
  void Report(const Key& key, const std::string& why);
  boost::asio::awaitable<void> CollectAndReport(Key key);
  boost::asio::awaitable<void> ForgetUntilDone(Key key);
  void ForgetIfDone(const Key& key);
  void SayRefused(const engine::AttemptRef& ref, const Error& error);
  [[nodiscard]] std::chrono::milliseconds retry_pause() const { return outside_.settings.retry_pause; }

  Collaborators& outside_;
  const v1::JobRecord& job_;
  Observer& observer_;
  std::map<Key, Known> known_;
  std::string said_refusal_;  ///< the last logged reason why a supervisor could not be started
  TaskGroup tasks_;
};

}  // namespace trainyard::control
