#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>

#include "async/task_group.h"
#include "engine/draining_allocator.h"
#include "server/disk_space.h"

namespace trainyard::server {

/// Looks at the disk once a second, and lets no job begin while it is nearly full. Loop thread only; the disk
/// is asked on a thread of its own.
class DiskWatch {
 public:
  static constexpr std::chrono::milliseconds kPause{1'000};

  /// `space` and `gate` outlive it. The gate is this one's alone.
  DiskWatch(boost::asio::any_io_executor loop, DiskSpace& space, engine::DrainingAllocator& gate);

 private:
  boost::asio::awaitable<void> Run();
  void Take(const DiskSpace::Seen& seen);

  boost::asio::any_io_executor loop_;
  DiskSpace& space_;
  engine::DrainingAllocator& gate_;
  retention::DiskLevel level_ = retention::DiskLevel::kEnough;
  boost::asio::thread_pool looking_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::server
