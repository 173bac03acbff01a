#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/async/task_group.h"
#include "programs/image/collect.h"

namespace trainyard::engine {

/// Cleans up after containers, when the server starts and then after each pause: removes pulled images beyond
/// the limits, files of killed pulls, and containers of a container daemon whose attempt is dead. Loop thread
/// only; the work is done on the pool. The destructor waits for it.
class ContainerUpkeep {
 public:
  static constexpr std::chrono::minutes kPause{10};

  struct Options {
    std::string images_dir;
    image::CollectLimits limits;
    std::string daemon_socket;  ///< empty: no daemon has our containers
    std::string attempts_dir;
    /// Returns the digests of images that unfinished jobs use. Called by the loop, not by the constructor.
    std::function<boost::asio::awaitable<std::set<std::string>>()> needed;
    /// Returns how far the machine's clock may have jumped ahead: an image's age does not include this time.
    /// Null: 0.
    std::function<std::chrono::nanoseconds()> clock_ahead{};
  };

  /// `pool` outlives it.
  ContainerUpkeep(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, Options options);

  /// Sets the daemon that has our containers from now on, if it was found after the start.
  void UseDaemon(std::string socket) { options_.daemon_socket = std::move(socket); }

 private:
  boost::asio::awaitable<void> Run();

  boost::asio::any_io_executor loop_;
  boost::asio::thread_pool& pool_;
  Options options_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
