#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/event.h"
#include "async/task_group.h"
#include "base/clock.h"
#include "metrics/usage_samples.h"

namespace trainyard::metrics {

/// Samples are collected this long before they are written together; a crash may lose as much.
inline constexpr std::chrono::seconds kWriteEvery{5};
/// Samples that may wait. If there are more (the disk is full), the oldest are dropped.
inline constexpr std::size_t kWaitingMax = 20'000;

/// What replicas use: the last sample of each in memory, all in metrics.db, written and read on a thread of
/// its own. A crash may lose a few seconds of samples. Loop thread only. The destructor writes the samples
/// that wait.
class UsageHistory {
 public:
  /// Errors as UsageSamples::Open.
  [[nodiscard]] static Result<std::unique_ptr<UsageHistory>> Open(boost::asio::any_io_executor loop,
                                                                  const Clock& clock,
                                                                  const std::string& path);
  ~UsageHistory();
  UsageHistory(const UsageHistory&) = delete;
  UsageHistory& operator=(const UsageHistory&) = delete;

  void Add(Sample sample);
  /// The attempt has ended and no longer counts as living. Its stored samples stay.
  void Forget(std::int64_t job_uid, const std::string& task_name);

  /// One replica's last sample and the one before it, of the same attempt.
  struct Latest {
    Sample now;
    std::optional<replica::v1::Usage> before;
  };
  /// Absent while the current attempt has none.
  [[nodiscard]] const Latest* Find(std::int64_t job_uid, const std::string& task_name) const;

  /// Oldest first, the newest kSamplesListedMax. Errors: of the database.
  boost::asio::awaitable<Result<std::vector<Sample>>> List(SampleQuery query);
  /// Erases all samples of jobs that have ended, in steps. Errors: of the database.
  boost::asio::awaitable<Status> Erase(std::vector<std::int64_t> job_uids);

 private:
  UsageHistory(boost::asio::any_io_executor loop, const Clock& clock, UsageSamples samples);
  boost::asio::awaitable<void> WriteForEver();
  boost::asio::awaitable<void> Write();

  const Clock& clock_;
  UsageSamples samples_;  ///< on the pool's thread
  std::vector<Sample> waiting_;
  std::map<std::pair<std::int64_t, std::string>, Latest> latest_;
  std::optional<SysTime> pruned_;
  bool failing_ = false;  ///< reported once
  Event added_;
  boost::asio::thread_pool pool_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::metrics
