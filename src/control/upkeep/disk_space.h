#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <string>

#include "base/async/disk_reserve.h"
#include "base/async/guarded.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "control/upkeep/clock_watch.h"
#include "engine/admissions.h"
#include "rules/retention/disk_marks.h"

namespace trainyard::control {

/// The free space on the disk of the data directory, and which limits it reaches. Any thread.
class DiskSpace {
 public:
  DiskSpace(std::string folder, retention::DiskMarks marks);

  struct DiskState {
    retention::DiskReading reading{};
    retention::DiskLevel level = retention::DiskLevel::kEnough;
    Status may_store{};  ///< retention::CheckSpace, for clients
    /// Without the path: clients are not told where the server stores its files.
    [[nodiscard]] retention::DiskReading ForClients() const;
    Status may_begin{};  ///< kResourceExhausted at kLow and kFull
  };
  /// Asks the file system: usually fast, but may block on a network disk. If it fails, the previous reading
  /// is kept.
  DiskState Look();
  /// The same, after trying to write, which detects a failing disk. Blocking.
  DiskState Try();
  [[nodiscard]] DiskState Last() const;
  [[nodiscard]] const retention::DiskMarks& marks() const noexcept { return marks_; }

 private:
  std::string folder_;
  retention::DiskMarks marks_;
  Guarded<DiskState> last_;
};

/// Checks the disk once a second, lets no job begin while it is nearly full, and keeps the reserve file while
/// it is not. Also checks the clock. Loop thread only; the disk is checked on a separate thread.
class DiskWatch {
 public:
  static constexpr std::chrono::milliseconds kPause{1'000};

  /// All outlive it. Nothing else may set or clear the admission stop for the disk.
  struct Dependencies {
    DiskSpace& space;
    DiskReserve& reserve;
    ClockWatch& clock;
    engine::Admissions& admissions;
  };
  DiskWatch(boost::asio::any_io_executor loop, Dependencies parts);

 private:
  boost::asio::awaitable<void> Run();
  void Take(const DiskSpace::DiskState& seen);

  boost::asio::any_io_executor loop_;
  Dependencies parts_;
  retention::DiskLevel level_ = retention::DiskLevel::kEnough;
  std::string trouble_;
  boost::asio::thread_pool looking_{1};
  TaskGroup tasks_;
};

/// Problems with the disk of a data directory.
struct DiskTrouble {
  bool answers = true;
  bool is_read_only = false;
  bool is_full = false;
};
/// Asks the kernel. Blocking.
[[nodiscard]] DiskTrouble LookForDiskTrouble(const std::string& data);

/// Adds to the error what an operator can do about the disk, if that may be the reason. Pure.
[[nodiscard]] Error WithDiskAdvice(Error error, const DiskTrouble& trouble, const std::string& data);

}  // namespace trainyard::control
