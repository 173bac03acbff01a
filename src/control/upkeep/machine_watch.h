#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/clock.h"
#include "control/job_service.h"
#include "programs/node/machine_figures.h"
#include "rules/placement/device.h"
#include "stores/metrics/usage_history.h"
#include "trainyard/control/v1/machine.pb.h"

namespace trainyard::control {

/// The free space of file systems that answer: statvfs(2) on a network disk that is gone never returns, and
/// no signal ends it. Each directory is checked on a separate thread, which is abandoned while its disk does
/// not answer; meanwhile that directory is not checked again. One thread at a time.
class AnsweringDisks {
 public:
  /// For all directories together.
  static constexpr std::chrono::milliseconds kAnswerMax{1'000};

  struct Space {
    std::uint64_t device = 0;  ///< identifies the file system
    std::int64_t bytes = 0;
    std::int64_t bytes_free = 0;
    friend bool operator==(const Space&, const Space&) = default;
  };
  /// Blocks. Nothing: there is no such directory.
  using Ask = std::function<std::optional<Space>(const std::string& folder)>;
  [[nodiscard]] static std::optional<Space> AskKernel(const std::string& folder);

  explicit AnsweringDisks(Ask ask = AskKernel, std::chrono::milliseconds answer_max = kAnswerMax)
      : ask_(std::move(ask)), answer_max_(answer_max) {}

  /// In the same order; nothing if there is no such directory, or no answer. Blocks for at most `answer_max`.
  [[nodiscard]] std::vector<std::optional<Space>> Look(const std::vector<std::string>& folders);

 private:
  using Answer = std::shared_future<std::optional<Space>>;
  [[nodiscard]] Answer Begin(const std::string& folder) const;

  Ask ask_;
  std::chrono::milliseconds answer_max_;
  std::map<std::string, Answer> asked_;  ///< by directory: calls that have not returned yet
};

/// Samples the machine once a minute for its history, and on request. Loop thread only; files are read on a
/// separate thread. A network disk that does not answer is left out (AnsweringDisks).
class MachineWatch {
 public:
  struct Dependencies {
    boost::asio::any_io_executor loop;
    const Clock& clock;
    const JobService& jobs;
    metrics::UsageHistory& usage;
    std::string data_dir;
    std::map<std::string, std::string> bucket_dirs;  ///< buckets elsewhere: name -> directory
    const std::vector<placement::Device>& devices;   ///< all of the machine; grows
    double cpus = 0;                                 ///< the CPUs that this machine has for jobs
    std::string version;
  };
  /// All of the parts outlive it.
  explicit MachineWatch(Dependencies parts);
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

  Dependencies parts_;
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
