#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <vector>

#include "async/task_group.h"
#include "engine/allocator.h"
#include "engine/attempt_host.h"

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

  /// All outlive it.
  Orphans(boost::asio::any_io_executor loop, engine::AttemptHost& host, engine::Allocator& allocator);

  /// What the attempts hold, read from their host.
  boost::asio::awaitable<std::vector<Orphan>> Find(std::vector<engine::AttemptRef> attempts);

  /// Forgets those of the attempts that do not live, one after another; until then nobody else gets their
  /// accelerators (from the turn of the call on). The host watches the living from now on: their supervisors
  /// say Hello and are dismissed, then OnGone comes.
  void Sweep(std::vector<Orphan> orphans);
  /// The attempt has ended and nobody looks after its job.
  void OnGone(engine::AttemptRef attempt);

 private:
  boost::asio::awaitable<void> SweepAll(std::vector<Orphan> orphans);
  boost::asio::awaitable<void> Forget(engine::AttemptRef attempt);

  engine::AttemptHost& host_;
  engine::Allocator& allocator_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
