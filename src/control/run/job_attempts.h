#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task_group.h"
#include "control/collaborators.h"
#include "control/run/trouble.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The attempts of one job that live, may live, or have left something with their host: adopts those of a
/// previous server, kills, collects what ended ones left, and forgets them once their end is recorded. Loop
/// thread only. The destructor cancels what it waits for; attempts go on living.
class JobAttempts {
 public:
  /// Who decides about the job. `replica` is a position in the record.
  class Observer {
   public:
    virtual ~Observer() = default;
    /// The attempt is the replica's current one and its end is not recorded.
    [[nodiscard]] virtual bool IsOpen(int replica, int attempt) const = 0;
    /// How the current attempt ended is known, and about to be recorded.
    [[nodiscard]] virtual bool IsEndSeen(int replica) const = 0;
    /// The supervisor of the current attempt is connected.
    [[nodiscard]] virtual bool IsAttached(int replica) const = 0;
    /// What keeps the attempt from being looked after, one sentence; empty: nothing any more.
    virtual void OnTrouble(int replica, int attempt, std::string why) = 0;
    /// It was never started.
    virtual void OnAbsent(int replica, int attempt) = 0;
    /// It has ended, or is lost; all of its lines are stored.
    virtual void OnRemains(int replica, int attempt, engine::AttemptHost::Remains remains) = 0;
    /// Nothing of it is left.
    virtual void OnForgotten() = 0;
  };

  /// All outlive it.
  JobAttempts(Collaborators& outside, const v1::JobRecord& job, Observer& observer);

  [[nodiscard]] bool empty() const noexcept { return known_.empty(); }

  /// Finds out what became of the job's attempts of a previous server: `listed` are those that their host
  /// still has, and every open one may be there.
  void TakeOver(const std::vector<engine::AttemptRef>& listed);
  /// Starts the replica's current attempt, or, without the secrets that it needs, reports its end. An error:
  /// it is dead for certain; `is_clean`: nothing of it is there, and the same attempt may be started again
  /// later.
  struct Started {
    Status status;
    bool is_clean = false;
  };
  boost::asio::awaitable<Started> Start(int replica, int attempt);
  /// Its supervisor is not connected any more.
  void OnDetached(int replica, int attempt) { tasks_.Spawn(AwaitAttach({replica, attempt})); }
  /// For a supervisor that does not do what it is told, or cannot be told.
  void Kill(int replica, int attempt);
  /// The supervisor has ended, and all of its attempt.
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
    bool awaited = false;  ///< AwaitAttach runs
    Trouble trouble{};
    std::string killed{};  ///< why this server killed it, though its job had not ended
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
  std::string said_refusal_;  ///< why a supervisor could not be started
  TaskGroup tasks_;
};

}  // namespace trainyard::control
