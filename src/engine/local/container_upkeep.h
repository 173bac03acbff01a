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

/// Removes what containers leave behind, when the server starts and then after each pause: pulled images that
/// are beyond the limits, what killed pulls left, and containers of a container daemon whose attempt is dead.
/// Loop thread only; the work is done on the pool. The destructor waits for it.
class ContainerUpkeep {
 public:
  static constexpr std::chrono::minutes kPause{10};

  struct Options {
    std::string images_dir;
    image::CollectLimits limits;
    std::string daemon_socket;  ///< empty: no daemon has containers of ours
    std::string attempts_dir;
    /// Digests of images that unfinished jobs have. Asked by the loop, not by the constructor.
    std::function<boost::asio::awaitable<std::set<std::string>>()> needed;
    /// How far the machine's clock is ahead without proof: no image is older for that. Null: not at all.
    std::function<std::chrono::nanoseconds()> clock_ahead{};
  };

  /// `pool` outlives it.
  ContainerUpkeep(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, Options options);

  /// A daemon that was not there at the start has containers of ours from now on.
  void UseDaemon(std::string socket) { options_.daemon_socket = std::move(socket); }

 private:
  boost::asio::awaitable<void> Run();

  boost::asio::any_io_executor loop_;
  boost::asio::thread_pool& pool_;
  Options options_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
