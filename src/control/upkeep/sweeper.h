#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <set>
#include <string>

#include "base/async/task_group.h"
#include "control/job_service.h"
#include "control/upkeep/clock_watch.h"
#include "engine/attempt_hosts.h"
#include "rules/retention/keep.h"
#include "rules/service/sweep_report.h"
#include "stores/logs/log_store.h"
#include "stores/store/journal.h"

namespace trainyard::control {

/// Removes old data according to the policy: once the jobs are taken over, and then after each pause. Logs
/// what it removed. While the machine's clock is in doubt it removes only a small share. It works in short
/// steps with pauses between them, so that other work waits for milliseconds; if the server ends after any
/// step, the next one continues. Images are handled separately (container_upkeep.h). Loop thread only. The
/// destructor waits for a directory that is being removed.
class Sweeper {
 public:
  struct Dependencies {
    ClockWatch& clock;
    JobService& jobs;
    store::Journal& journal;
    logs::LogStore& logs;
    engine::AttemptHosts hosts;
    std::string attempts_dir;
    std::string data_dir;
    std::string environments_dir;
    retention::Policy policy;
  };
  /// All of the parts outlive it.
  Sweeper(boost::asio::any_io_executor loop, Dependencies parts);

 private:
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<Status> SweepAll(service::SweepReport& report);
  /// The time by which this sweep removes: docs/adr/0060.
  boost::asio::awaitable<Result<SysTime>> TimeOfSweep();
  boost::asio::awaitable<Result<retention::Share>> OldJobs(SysTime now);
  boost::asio::awaitable<Result<retention::Share>> OldLogs(SysTime now);
  boost::asio::awaitable<retention::Share> OldEnvironments(SysTime now);
  boost::asio::awaitable<Status> SweepJobs(service::SweepReport& report);
  boost::asio::awaitable<Status> SweepLogs(service::SweepReport& report);
  boost::asio::awaitable<Status> SweepAttempts(service::SweepReport& report);
  boost::asio::awaitable<Status> SweepEnvironments(service::SweepReport& report);
  /// Pauses long enough that a sweep takes at most half of the time of shared threads.
  boost::asio::awaitable<void> Breathe(std::chrono::steady_clock::time_point begun);

  boost::asio::any_io_executor loop_;
  Dependencies parts_;
  SysTime now_{};  ///< of this sweep
  bool doubt_said_ = false;
  boost::asio::thread_pool removing_{1};  ///< slow, and nothing waits for it
  TaskGroup tasks_;
};

}  // namespace trainyard::control
