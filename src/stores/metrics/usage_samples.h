#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/metrics/machine_samples.h"
#include "stores/metrics/series.h"
#include "stores/metrics/stored_reports.h"

namespace trainyard::metrics {

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
