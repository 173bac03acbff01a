#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/loop_watch.h"
#include "base/async/system_clock.h"
#include "base/async/watched_executor.h"
#include "base/result.h"
#include "control/intake/image_lookups.h"
#include "control/settings.h"
#include "control/upkeep/clock_watch.h"
#include "control/upkeep/disk_space.h"
#include "engine/local/container_support.h"
#include "net/http/connection_budget.h"
#include "server/bound_sockets.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// What an installation's stores and jobs are built on: the clock, a thread pool for each kind of wait, what
/// runs containers on this machine. Loop thread only, except for the pools.
struct Foundation {
  boost::asio::io_context& loop;
  const ServeOptions& options;
  store::DataDirectory data;
  const control::Settings settings;
  const std::vector<std::string> own_urls;  ///< what a JWT may name as its audience (stores/identity/jwt.h)
  SystemClock clock;
  engine::ContainerSupport containers;
  boost::asio::thread_pool files;
  boost::asio::thread_pool who_asks;  ///< inspects this machine's processes, which programs wait for
  boost::asio::thread_pool image_lookups;
  boost::asio::thread_pool runtime_lists{1};  ///< requests for the list of runtimes queue here
  boost::asio::thread_pool queued_lookups;    ///< for jobs that wait for a registry, which takes long
  control::ImageRegistries registries;  ///< without functions while nothing on this machine runs containers
  control::DiskSpace disk;
  control::ClockWatch clock_watch;
  control::RemovalClock removal_clock{clock_watch};
  LoopWatch watch;
  http::ConnectionBudget connections;  ///< raises this process' limit of descriptors, and says if it is low

  /// Blocking: looks for what runs containers. `loop` and `options` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Foundation>> Open(boost::asio::io_context& loop,
                                                                const ServeOptions& options,
                                                                store::DataDirectory data,
                                                                const BoundSockets& sockets);
  /// The loop's executor for a part of the server; `watch` reports its long turns under this name.
  [[nodiscard]] boost::asio::any_io_executor LoopFor(std::string_view part) {
    return WatchLoop(loop, &watch, part);
  }
  /// Call it when a container runtime was found: from now on images are looked up.
  void UseContainers(engine::ContainerSupport found);

 private:
  Foundation(boost::asio::io_context& the_loop, const ServeOptions& the_options, store::DataDirectory opened,
             const BoundSockets& sockets, std::string_view secret);
};

}  // namespace trainyard::server
