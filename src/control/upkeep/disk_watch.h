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

/// Looks at the disk once a second, lets no job begin while it is nearly full, and keeps the reserve while it
/// is not. Looks at the clock beside it. Loop thread only; the disk is asked on a thread of its own.
class DiskWatch {
 public:
  static constexpr std::chrono::milliseconds kPause{1'000};

  /// All outlive it. The stop for the disk is this one's alone.
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
