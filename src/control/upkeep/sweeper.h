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

/// Removes what is old by the policy: when the jobs are taken over, and then after each pause. Says in the
/// log what it removed. While the machine's clock is in doubt it removes a small share at most. It works in
/// short steps with pauses between them, so that others wait for milliseconds; each step may be its last one:
/// the next server goes on. Images have an upkeep of their own (container_upkeep.h). Loop thread only. The
/// destructor waits for a folder that is being removed.
class Sweeper {
 public:
  struct Parts {
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
  Sweeper(boost::asio::any_io_executor loop, Parts parts);

 private:
  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<Status> SweepAll(service::SweepReport& report);
  /// By what time this sweep removes: docs/adr/0060.
  boost::asio::awaitable<Result<SysTime>> TimeOfSweep();
  boost::asio::awaitable<Result<retention::Share>> OldJobs(SysTime now);
  boost::asio::awaitable<Result<retention::Share>> OldLogs(SysTime now);
  boost::asio::awaitable<retention::Share> OldEnvironments(SysTime now);
  boost::asio::awaitable<Status> SweepJobs(service::SweepReport& report);
  boost::asio::awaitable<Status> SweepLogs(service::SweepReport& report);
  boost::asio::awaitable<Status> SweepAttempts(service::SweepReport& report);
  boost::asio::awaitable<Status> SweepEnvironments(service::SweepReport& report);
  /// So long that a sweep takes no more than half of the time of what it shares with others.
  boost::asio::awaitable<void> Breathe(std::chrono::steady_clock::time_point begun);

  boost::asio::any_io_executor loop_;
  Parts parts_;
  SysTime now_{};  ///< of this sweep
  bool doubt_said_ = false;
  boost::asio::thread_pool removing_{1};  ///< it takes long, and nobody waits for it
  TaskGroup tasks_;
};

}  // namespace trainyard::control
