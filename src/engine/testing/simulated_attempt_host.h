#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <set>
#include <string>

#include "base/async/task_group.h"
#include "engine/attempt_host.h"
#include "engine/testing/simulated_machine.h"

namespace trainyard::engine {

/// For simulations: the attempt host of a SimulatedMachine. It answers as LocalAttemptHost does, each time
/// after a while. One server has one host: the attempts stay when it is destroyed, a start that is not done
/// stops somewhere. One host of a machine at a time. Loop thread only.
class SimulatedAttemptHost final : public AttemptHost {
 public:
  /// The machine outlives it.
  SimulatedAttemptHost(boost::asio::any_io_executor loop, SimulatedMachine& machine);
  ~SimulatedAttemptHost() override;

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) override;
  boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) override;
  boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() override;
  boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override;
  boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(AttemptRef attempt) override;
  boost::asio::awaitable<Status> Forget(AttemptRef attempt) override;
  /// Returns a terminal on which `cat` runs.
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                            shell::TerminalSize size) override;

 private:
  boost::asio::awaitable<void> Turn();
  boost::asio::awaitable<Result<bool>> WaitUntilOver(std::string attempt_id,
                                                     std::chrono::milliseconds wait_max);
  [[nodiscard]] Status RefuseAlive(const std::string& attempt_id) const;
  void OnOver(const std::string& attempt_id);
  boost::asio::awaitable<void> SayGone(std::string attempt_id);

  boost::asio::any_io_executor loop_;
  SimulatedMachine& machine_;
  OnGone on_gone_;
  std::set<std::string> watched_;  ///< attempt ids
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
