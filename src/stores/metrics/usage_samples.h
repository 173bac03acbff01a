#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/metrics/series.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::metrics {

/// Reports of all jobs together, at most 50 KB each. If there are more, those of the oldest jobs are deleted.
inline constexpr std::int64_t kReportsMax = 10'000;
/// Reports in one answer.
inline constexpr std::int64_t kReportsListedMax = 2'000;

/// Everything that one attempt of a job reported under one tag.
struct StoredReport {
  std::int64_t job_uid = 0;  ///< for a trial, that of the tuning job
  std::string trial_id;      ///< empty: not a trial
  int attempt = 0;           ///< the master's
  std::string tag;
  replica::v1::MetricReport report;
};

/// The wanted reports of a job.
struct ReportQuery {
  std::int64_t job_uid = 0;
  std::vector<std::string> trial_ids;  ///< "": reports outside of trials
};
/// Sorted by trial (in the requested order), tag and attempt; at most kReportsListedMax.
[[nodiscard]] Result<std::vector<StoredReport>> ReadReports(sqlite::Database& database,
                                                            const ReportQuery& query);
[[nodiscard]] Status EraseReports(sqlite::Database& database, std::span<const std::int64_t> job_uids);
/// Deletes the oldest jobs' reports beyond the limit.
[[nodiscard]] Status PruneReports(sqlite::Database& database, std::int64_t reports_max);

// The use of the whole machine.

/// One sample per minute is stored.
inline constexpr std::chrono::minutes kMachineSampleEvery{1};

struct MachineSample {
  SysTime time;
  double cpu_utilization = -1;     ///< of all CPUs since the sample before, 0 to 1; -1: not known
  double memory_utilization = -1;  ///< 0 to 1; -1: not known
  double gpu_utilization = -1;     ///< mean of all GPUs; -1: not known, or there are none
  double replicas = 0;             ///< running ones
  friend bool operator==(const MachineSample&, const MachineSample&) = default;
};

/// Equal parts of the time before a moment.
struct MachineSpan {
  SysTime start;
  std::chrono::seconds step{0};
  std::size_t parts = 0;
  friend bool operator==(const MachineSpan&, const MachineSpan&) = default;
};
/// The parts of this many hours before `now`: one a minute, at most kMachinePartsMax. They begin at whole
/// steps since 1970, so that parts do not shift from one request to the next.
[[nodiscard]] MachineSpan SpanOf(SysTime now, std::chrono::hours hours);
inline constexpr std::size_t kMachinePartsMax = 1'440;

/// Columns of equal length: the mean of the samples in each part; -1 in a part without samples.
struct MachineColumns {
  std::vector<float> cpu;
  std::vector<float> memory;
  std::vector<float> gpu;  ///< empty: no sample has GPUs
  std::vector<float> replicas;
};
[[nodiscard]] MachineColumns ColumnsOf(std::span<const MachineSample> samples, const MachineSpan& span);

/// Samples are deleted after this long, as in Google's monitoring.
inline constexpr std::chrono::days kSamplesKept{42};
/// If there are more, the oldest are deleted. About 100 MB.
inline constexpr std::int64_t kSamplesMax = 1'000'000;
/// Samples in one answer: the newest ones that match.
inline constexpr int kSamplesListedMax = 10'000;

struct SampleQuery {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< empty: all
  SysTime begin;          ///< inclusive
  SysTime end = SysTime::max();
};

/// metrics.db: usage samples, and what programs reported; the oldest are deleted first. One thread at a time;
/// blocking.
class UsageSamples {
 public:
  /// Opens or creates the file. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<UsageSamples> Open(const std::string& path,
                                                 std::int64_t samples_max = kSamplesMax);

  /// Stores all or none.
  [[nodiscard]] Status Add(const std::vector<Sample>& samples) { return Write(samples, {}); }
  [[nodiscard]] Status Write(const std::vector<Sample>& samples, std::span<const StoredReport> reports);
  [[nodiscard]] Result<std::vector<StoredReport>> Reports(const ReportQuery& query) {
    return ReadReports(database_, query);
  }
  /// In order of time.
  [[nodiscard]] Result<std::vector<Sample>> List(const SampleQuery& query);
  /// The place from which to continue reading: after this sample.
  struct Position {
    std::int64_t time_ns = 0;
    std::int64_t sample_id = 0;
  };
  struct Page {
    std::vector<Sample> samples;  ///< in order of time
    Position last;                ///< of the last one
  };
  /// The samples after a position, at most `count`; fewer: there are no more.
  [[nodiscard]] Result<Page> List(const SampleQuery& query, Position after, int count);
  [[nodiscard]] Status AddMachine(const MachineSample& sample);
  /// The samples since that moment, in order of time.
  [[nodiscard]] Result<std::vector<MachineSample>> ListMachine(SysTime begin);
  /// Deletes samples older than kSamplesKept, and the oldest of everything beyond the limits.
  [[nodiscard]] Status Prune(SysTime now);
  /// Deletes reports and samples of these jobs, at most `count` samples in one transaction. @return how many.
  [[nodiscard]] Result<std::int64_t> Erase(const std::vector<std::int64_t>& job_uids, std::int64_t count);

 private:
  UsageSamples(sqlite::Database database, std::int64_t samples_max)
      : database_(std::move(database)), samples_max_(samples_max) {}

  sqlite::Database database_;
  std::int64_t samples_max_;
};

}  // namespace trainyard::metrics
