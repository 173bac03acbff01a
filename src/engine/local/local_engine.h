#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <set>
#include <string>
#include <vector>

#include "async/task_group.h"
#include "async/unique_fd.h"
#include "attempt/attempt_dir.h"
#include "engine/engine.h"

namespace trainyard::engine {

/// Supervisors as processes of this machine, each in a session of its own: they live on when the server ends,
/// however it ends. Loop thread only; file work happens on a pool of its own, and on another one what
/// container engines have to answer. Attempts of a former server are adopted by Inspect. The destructor stops
/// watching and leaves the supervisors alone.
class LocalEngine final : public Engine {
 public:
  struct Options {
    std::string supervisor_program = "/proc/self/exe";
    std::vector<std::string> supervisor_arguments = {"replica"};  ///< before the attempt's folder
  };

  /// `loop`: of an io_context that outlives the engine.
  explicit LocalEngine(boost::asio::any_io_executor loop) : LocalEngine(std::move(loop), Options()) {}
  LocalEngine(boost::asio::any_io_executor loop, Options options);

  void SetOnGone(OnGone on_gone) override { on_gone_ = std::move(on_gone); }
  boost::asio::awaitable<Status> Start(Manifest manifest) override;
  boost::asio::awaitable<Result<Liveness>> Inspect(Manifest manifest) override;
  boost::asio::awaitable<Result<Remains>> Collect(Manifest manifest, std::int64_t from_line) override;
  boost::asio::awaitable<Status> Kill(Manifest manifest) override;
  boost::asio::awaitable<Status> Remove(Manifest manifest) override;

 private:
  boost::asio::awaitable<Status> RemoveContainers(replica::AttemptDir dir);
  boost::asio::awaitable<void> RemoveContainersAtLast(replica::AttemptDir dir);
  void StartWatching(const Manifest& manifest, UniqueFd pidfd);
  boost::asio::awaitable<void> Watch(std::string attempt_id, replica::AttemptDir dir, UniqueFd pidfd);

  boost::asio::any_io_executor loop_;
  Options options_;
  OnGone on_gone_;
  std::set<std::string> watched_;  ///< attempt ids
  boost::asio::thread_pool files_{2};
  /// Calls to container engines: one that hangs holds up the attempts that have containers, nothing else.
  boost::asio::thread_pool containers_{2};
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
