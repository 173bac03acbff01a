#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "stores/metrics/series.h"
#include "stores/metrics/usage_samples.h"

namespace trainyard::metrics {

/// Samples are collected this long and then written together; a crash may lose as much.
inline constexpr std::chrono::seconds kWriteEvery{5};
/// Limit on samples waiting to be written. If there are more (the disk is full), the oldest are dropped.
inline constexpr std::size_t kWaitingMax = 20'000;

/// Limit on waiting reports; further ones are dropped until they are sent again.
inline constexpr std::size_t kReportsWaitingMax = 5'000;

/// Samples of a thinned answer that are read at once, about 10 ms; and how long one answer may read. Other
/// work runs in between.
inline constexpr int kThinnedPageSamples = 5'000;
inline constexpr std::chrono::seconds kThinnedTimeMax{5};

/// The wanted series, and the names to print them with.
struct ThinnedQuery {
  std::string project;
  std::string job_id;
  std::vector<const Metric*> metrics;
  std::size_t points_max = 0;  ///< of each
  std::chrono::steady_clock::duration time_max = kThinnedTimeMax;
};

/// The resource use of replicas: the last sample of each in memory, all in metrics.db, written and read on a
/// separate thread; and the metrics that programs reported. A crash may lose a few seconds of samples;
/// reports are repeated by attempts that live, and written before a job's end (KeepReports). Loop thread
/// only. The destructor writes the samples that wait.
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
  /// Replaces the earlier report of that attempt under that tag.
  void Put(StoredReport report);
  /// Stores what the job's programs have reported. Call before the job's end is recorded: an attempt that has
  /// ended does not report again. A failure is logged; the reports are then written later.
  boost::asio::awaitable<void> KeepReports(std::int64_t job_uid);
  /// Call when the attempt has ended: it no longer counts as running. Its stored samples stay.
  void Forget(std::int64_t job_uid, const std::string& task_name);

  /// One replica's last sample and the one before it, of the same attempt.
  struct Latest {
    Sample now;
    std::optional<replica::v1::Usage> before;
  };
  /// Null while the current attempt has no sample.
  [[nodiscard]] const Latest* Find(std::int64_t job_uid, const std::string& task_name) const;

  /// Oldest first, the newest kSamplesListedMax. Errors: of the database.
  boost::asio::awaitable<Result<std::vector<Sample>>> List(SampleQuery query);
  /// All samples of the query, however many, as thinned series in JSON (PrintSeries). Read and printed off
  /// the loop. After `time_max` no further page is read: the series end there, and executionErrors says
  /// where, so that the client can ask for the rest. Errors: of the database.
  boost::asio::awaitable<Result<std::string>> PrintThinned(SampleQuery query, ThinnedQuery thinned);
  /// As ReadReports, including reports that are not written yet.
  boost::asio::awaitable<Result<std::vector<StoredReport>>> ListReports(ReportQuery query);
  /// Stores a sample of the machine. Errors: of the database.
  boost::asio::awaitable<Status> AddMachine(MachineSample sample);
  /// Since that moment, oldest first. Errors: of the database.
  boost::asio::awaitable<Result<std::vector<MachineSample>>> ListMachine(SysTime begin);
  /// Erases all samples and reports of jobs that have ended, in steps. Errors: of the database.
  boost::asio::awaitable<Status> Erase(std::vector<std::int64_t> job_uids);

 private:
  UsageHistory(boost::asio::any_io_executor loop, const Clock& clock, UsageSamples samples);
  boost::asio::awaitable<void> WriteForEver();
  boost::asio::awaitable<void> Write();
  [[nodiscard]] std::vector<StoredReport> TakeWaitingReports();
  void PutBack(const std::vector<StoredReport>& reports);

  const Clock& clock_;
  UsageSamples samples_;  ///< used on the pool's thread
  std::vector<Sample> waiting_;
  std::map<std::tuple<std::int64_t, std::string, int, std::string>, StoredReport>
      waiting_reports_;  ///< by job, trial, attempt, tag
  std::map<std::pair<std::int64_t, std::string>, Latest> latest_;
  std::optional<SysTime> pruned_;
  int writing_ = 0;       ///< calls of Write that wait for the database
  bool failing_ = false;  ///< the failure was already logged
  Event added_;
  boost::asio::thread_pool pool_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::metrics
