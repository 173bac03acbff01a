#include "engine/local/container_upkeep.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "engine/local/strays.h"
#include "programs/runtimes/daemon_container.h"

namespace trainyard::engine {

namespace {

void RemoveContainers(const ContainerUpkeep::Options& options) {
  if (options.daemon_socket.empty()) return;
  const Status removed = replica::RemoveLeftContainers(options.daemon_socket, options.attempts_dir, IsHeld);
  if (!removed)
    Diagnose(DiagnosticLevel::kWarning, "cannot remove leftover containers yet: " + removed.error().message);
}

void RemoveImages(const ContainerUpkeep::Options& options) {
  const Result<image::CollectResult> collected = image::CollectImages(options.images_dir, options.limits);
  if (!collected) {
    Diagnose(DiagnosticLevel::kWarning, "cannot remove unused images: " + collected.error().message);
  } else if (!collected->images.empty()) {
    Diagnose(DiagnosticLevel::kInfo, "removed " + std::to_string(collected->images.size()) +
                                         " least recently used images, " +
                                         std::to_string(collected->bytes / 1'000'000) + " MB");
  }
}

}  // namespace

ContainerUpkeep::ContainerUpkeep(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                                 Options options)
    : loop_(std::move(loop)), pool_(pool), options_(std::move(options)), tasks_(loop_) {
  tasks_.Spawn(Run());
}

boost::asio::awaitable<void> ContainerUpkeep::Run() {
  boost::asio::steady_timer timer(loop_);
  co_await boost::asio::post(loop_, boost::asio::use_awaitable);
  while (true) {
    options_.limits.needed = co_await options_.needed();
    Options options = options_;
    if (options.limits.age_max && options.clock_ahead)
      *options.limits.age_max += std::chrono::ceil<std::chrono::seconds>(options.clock_ahead());
    auto clear = [options = std::move(options)] {
      RemoveContainers(options);
      RemoveImages(options);
    };
    co_await OnPool(pool_, std::move(clear));
    timer.expires_after(kPause);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

}  // namespace trainyard::engine
