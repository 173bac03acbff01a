#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/async/unique_fd.h"
#include "engine/attempt_host.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/node_settings.h"
#include "programs/attempt/attempt_dir.h"

namespace trainyard::engine {

/// Runs supervisors as processes of this machine, each in a separate session: they live on when the server
/// ends, however it ends. Loop thread only; file operations run on one pool, calls to container daemons on
/// another. Attempts of a previous server are adopted by Inspect. The destructor stops watching and leaves
/// the supervisors alone.
class LocalAttemptHost final : public AttemptHost {
 public:
  struct Options {
    std::string supervisor_program = "/proc/self/exe";            ///< the starter's process must find it, too
    std::vector<std::string> supervisor_arguments = {"replica"};  ///< before the attempt's directory
    /// The attempts of the data directory that this one was restored from, which has the same jobs: while an
    /// attempt of a job lives there, no attempt of that job is started here. Empty: this one was not
    /// restored.
    std::string former_attempts_dir;
  };

  /// The io_context of `loop`, `settings` and `starter` outlive the host.
  LocalAttemptHost(boost::asio::any_io_executor loop, const NodeSettings& settings,
                   SupervisorStarter& starter, Options options);

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest, Slot slot) override;
  boost::asio::awaitable<Inspection> Inspect(AttemptRef attempt) override;
  boost::asio::awaitable<Result<std::vector<AttemptRef>>> List() override;
  boost::asio::awaitable<Result<Holding>> HoldingOf(AttemptRef attempt) override;
  boost::asio::awaitable<Result<Remains>> Collect(AttemptRef attempt, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(AttemptRef attempt) override;
  boost::asio::awaitable<Status> Forget(AttemptRef attempt) override;
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(AttemptRef attempt,
                                                            shell::TerminalSize size) override;

 private:
  [[nodiscard]] replica::AttemptDir DirOf(const std::string& attempt_id) const {
    return {settings_.attempts_dir + "/" + attempt_id};
  }
  boost::asio::awaitable<Status> CheckFormer(std::string attempt_id);
  boost::asio::awaitable<Result<bool>> WaitUntilOver(replica::AttemptDir dir,
                                                     std::chrono::milliseconds wait_max);
  boost::asio::awaitable<Status> RemoveContainers(replica::AttemptDir dir);
  boost::asio::awaitable<void> RemoveContainersUntilDone(replica::AttemptDir dir);
  void StartWatching(const std::string& attempt_id, UniqueFd pidfd);
  boost::asio::awaitable<void> Watch(std::string attempt_id, UniqueFd pidfd);

  boost::asio::any_io_executor loop_;
  const NodeSettings& settings_;
  SupervisorStarter& starter_;
  Options options_;
  OnGone on_gone_;
  std::set<std::string> watched_;  ///< attempt ids
  boost::asio::thread_pool files_{2};
  /// Calls to container daemons: one that hangs only delays attempts with containers.
  boost::asio::thread_pool containers_{2};
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
