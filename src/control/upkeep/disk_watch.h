#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <string>

#include "base/async/disk_reserve.h"
#include "base/async/task_group.h"
#include "control/upkeep/clock_watch.h"
#include "control/upkeep/disk_space.h"
#include "engine/admissions.h"

namespace trainyard::control {

/// Checks the disk once a second, lets no job begin while it is nearly full, and keeps the reserve file while
/// it is not. Also checks the clock. Loop thread only; the disk is checked on a separate thread.
class DiskWatch {
 public:
  static constexpr std::chrono::milliseconds kPause{1'000};

  /// All outlive it. Nothing else may set or clear the admission stop for the disk.
  struct Parts {
    DiskSpace& space;
    DiskReserve& reserve;
    ClockWatch& clock;
    engine::Admissions& admissions;
  };
  DiskWatch(boost::asio::any_io_executor loop, Parts parts);

 private:
  boost::asio::awaitable<void> Run();
  void Take(const DiskSpace::Seen& seen);

  boost::asio::any_io_executor loop_;
  Parts parts_;
  retention::DiskLevel level_ = retention::DiskLevel::kEnough;
  std::string trouble_;
  boost::asio::thread_pool looking_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::control
