#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "async/task_group.h"
#include "control/admissions.h"
#include "control/settings.h"
#include "engine/engine.h"

namespace trainyard::control {

/// Names of all attempts that have a folder. Blocks: before the server serves. Folders whose names are no
/// attempt ids are not ours and left out; without the attempts' folder there are none.
[[nodiscard]] Result<std::vector<std::string>> ListAttemptFolders(const Settings& settings);

/// Folders of attempts whose jobs nobody looks after any more: the server was killed between the job's end
/// and their removal. Loop thread only. The destructor stops the work; the next server goes on with it.
class Orphans {
 public:
  /// All outlive it.
  Orphans(boost::asio::any_io_executor loop, engine::Engine& engine, Admissions& admissions,
          const Settings& settings);

  /// Removes those of the attempts that do not live, one after another; until then nobody else gets their
  /// accelerators (in the turn of the call). The engine watches the living from
  /// now on: their supervisors say Hello and are sent away, then OnGone comes.
  void Sweep(std::vector<std::string> attempt_ids);
  /// The attempt has ended and nobody looks after its job.
  void OnGone(std::string attempt_id);

 private:
  void OccupyDevices(const std::string& attempt_id);
  boost::asio::awaitable<void> SweepAll(std::vector<std::string> attempt_ids);
  boost::asio::awaitable<void> Remove(std::string attempt_id);

  engine::Engine& engine_;
  Admissions& admissions_;
  const Settings& settings_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
