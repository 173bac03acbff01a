#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "engine/admissions.h"
#include "engine/attempt_hosts.h"

namespace trainyard::control {

/// Orphaned attempts: nobody looks after their jobs any more, because the server was killed between the job's
/// end and their removal. Loop thread only. The destructor stops the work; the next server goes on with it.
class Orphans {
 public:
  /// An orphan, and what it still holds.
  struct Orphan {
    engine::AttemptRef attempt;
    engine::AttemptHost::Holding holding;
  };

  /// All outlive it. `wait`: from when an orphan is told to end until it is killed.
  Orphans(boost::asio::any_io_executor loop, engine::AttemptHosts hosts, engine::Admissions& admissions,
          std::chrono::milliseconds wait);

  /// What the attempts hold, read from their host.
  boost::asio::awaitable<std::vector<Orphan>> Find(std::vector<engine::AttemptRef> attempts);

  /// Forgets those of the attempts that do not live, one after another; until then nobody else gets their
  /// accelerators (from the turn of the call on). The host watches the living from now on: their supervisors
  /// say Hello and are dismissed, then OnGone comes; or they are killed.
  void Sweep(std::vector<Orphan> orphans);
  /// Its supervisor was told to end: it is killed if it does not.
  void OnHello(engine::AttemptRef attempt);
  /// The attempt has ended and nobody looks after its job.
  void OnGone(engine::AttemptRef attempt);

 private:
  boost::asio::awaitable<void> SweepAll(std::vector<Orphan> orphans);
  boost::asio::awaitable<void> Forget(engine::AttemptRef attempt);
  boost::asio::awaitable<void> EndUntilDone(engine::AttemptRef attempt);

  engine::AttemptHosts hosts_;
  engine::Admissions& admissions_;
  std::chrono::milliseconds wait_;
  std::set<std::string> ending_;  ///< attempt ids
  TaskGroup tasks_;
};

}  // namespace trainyard::control
