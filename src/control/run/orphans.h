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

/// Orphaned attempts: their jobs have no runner any more, because the server was killed between the job's end
/// and their removal. Loop thread only. The destructor stops the work; the next server continues it.
class Orphans {
 public:
  /// An orphan, and the resources that it still has.
  struct Orphan {
    engine::AttemptRef attempt;
    engine::AttemptHost::Holding holding;
  };

  /// All outlive it. `wait`: the time between telling an orphan to end and killing it.
  Orphans(boost::asio::any_io_executor loop, engine::AttemptHosts hosts, engine::Admissions& admissions,
          std::chrono::milliseconds wait);

  /// The resources of the attempts, read from their host.
  boost::asio::awaitable<std::vector<Orphan>> Find(std::vector<engine::AttemptRef> attempts);

  /// Removes those of the attempts that are not running, one after another; from the call on, their
  /// accelerators are not given to others until then. The host watches running ones from now on: either their
  /// supervisors connect and are dismissed, and OnGone follows; or they are killed.
  void Sweep(std::vector<Orphan> orphans);
  /// Its supervisor was told to end: it is killed if it does not.
  void OnHello(engine::AttemptRef attempt);
  /// The attempt has ended and its job has no runner.
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
