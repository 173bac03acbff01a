#pragma once

#include <boost/asio/thread_pool.hpp>

#include "base/async/loop_watch.h"
#include "base/async/system_clock.h"
#include "control/intake/image_lookups.h"
#include "control/upkeep/clock_watch.h"
#include "control/upkeep/disk_space.h"
#include "engine/local/container_support.h"
#include "net/http/connection_budget.h"
#include "server/options/serve_options.h"
#include "stores/store/data_directory.h"

namespace trainyard::server {

/// What an installation's stores and jobs stand on: the clock, the threads by what they may wait for, what
/// this machine has for containers. Loop thread only, but the pools.
struct Foundation {
  SystemClock clock;
  engine::ContainerSupport containers;
  boost::asio::thread_pool files;
  boost::asio::thread_pool who_asks;  ///< looks at this machine's processes, which programs wait for
  boost::asio::thread_pool image_lookups;
  boost::asio::thread_pool runtime_lists{1};  ///< where who asks for the list of runtimes waits in line
  boost::asio::thread_pool queued_lookups;    ///< of jobs that wait for a registry: they take long
  control::ImageRegistries registries;        ///< without functions while nothing here runs containers
  control::DiskSpace disk;
  control::ClockWatch clock_watch;
  control::RemovalClock removal_clock{clock_watch};
  LoopWatch watch;
  http::ConnectionBudget connections;  ///< raises this process' limit of descriptors, and says if it is low

  Foundation(engine::ContainerSupport found, const ServeOptions& options, const store::DataDirectory& data);
  /// Containers were found: from now on images are looked up.
  void UseContainers(engine::ContainerSupport found, const ServeOptions& options,
                     const store::DataDirectory& data);
};

}  // namespace trainyard::server
