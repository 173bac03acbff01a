#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "engine/local/container_support.h"

namespace trainyard::engine {

/// Looks for a container runtime for all jobs that need one: one look at a time, whose result all callers get
/// that ask while it is under way. Loop thread only; looks run on a pool. The destructor waits for the
/// current look.
class ContainerProbe {
 public:
  /// Blocks for seconds if an engine's socket exists and nobody answers.
  using Look = std::function<Result<ContainerSupport>()>;
  /// Called once for each look, on the loop, before the callers of Ask resume.
  using Take = std::function<void(const Result<ContainerSupport>& found)>;

  /// `pool` and what `take` changes outlive it.
  ContainerProbe(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, Look look, Take take);

  /// Returns when a look has ended, at the latest after `wait_max`; the look then continues for later
  /// callers.
  boost::asio::awaitable<void> Ask(std::chrono::milliseconds wait_max);

 private:
  boost::asio::awaitable<void> Run();

  boost::asio::thread_pool& pool_;
  Look look_;
  Take take_;
  bool looking_ = false;
  Event ended_;  ///< the last look
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
