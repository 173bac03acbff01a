#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/clock.h"
#include "control/job_service.h"
#include "control/upkeep/answering_disks.h"
#include "programs/node/machine_figures.h"
#include "rules/placement/device.h"
#include "stores/metrics/usage_history.h"
#include "trainyard/control/v1/machine.pb.h"

namespace trainyard::control {

/// Samples the machine once a minute for its history, and on request. Loop thread only; files are read on a
/// separate thread. A network disk that does not answer is left out (AnsweringDisks).
class MachineWatch {
 public:
  struct Parts {
    boost::asio::any_io_executor loop;
    const Clock& clock;
    const JobService& jobs;
    metrics::UsageHistory& usage;
    std::string data_dir;
    std::map<std::string, std::string> bucket_dirs;  ///< buckets elsewhere: name -> directory
    std::vector<placement::Device> devices;
    double cpus = 0;  ///< the CPUs that this machine has for jobs
    std::string version;
  };
  /// All of the parts outlive it.
  explicit MachineWatch(Parts parts);
  MachineWatch(const MachineWatch&) = delete;
  MachineWatch& operator=(const MachineWatch&) = delete;

  boost::asio::awaitable<control::v1::MachineReport> Report();
  /// Errors: of the database.
  boost::asio::awaitable<Result<control::v1::MachineHistory>> History(std::chrono::hours hours);

 private:
  boost::asio::awaitable<void> SampleForEver();
  boost::asio::awaitable<void> SampleOnce();
  void AddGpus(control::v1::MachineReport& report) const;
  [[nodiscard]] double GpuUtilization() const;

  Parts parts_;
  SysTime started_;
  bool failing_ = false;          ///< the failure was already logged
  node::MachineFigures sampled_;  ///< for the history
  node::MachineFigures shown_;    ///< for reports
  std::chrono::steady_clock::time_point shown_at_{};
  double shown_share_ = -1;
  AnsweringDisks disks_;  ///< used on looking_
  boost::asio::thread_pool looking_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::control
