#include "engine/local/container_probe.h"

#include <utility>

#include "base/async/on_pool.h"

namespace trainyard::engine {

ContainerProbe::ContainerProbe(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, Look look,
                               Take take)
    : pool_(pool), look_(std::move(look)), take_(std::move(take)), ended_(loop), tasks_(loop) {}

boost::asio::awaitable<void> ContainerProbe::Ask(std::chrono::milliseconds wait_max) {
  if (!looking_) {
    looking_ = true;
    ended_.Reset();
    tasks_.Spawn(Run());
  }
  co_await ended_.WaitFor(wait_max);
}

boost::asio::awaitable<void> ContainerProbe::Run() {
  const Result<ContainerSupport> found = co_await OnPool(pool_, look_);
  take_(found);
  looking_ = false;
  ended_.Set();
}

}  // namespace trainyard::engine
