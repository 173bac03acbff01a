#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "metrics/series.h"
#include "sqlite/database.h"

namespace trainyard::metrics {

/// Samples are forgotten after this long, as the original's monitoring did.
inline constexpr std::chrono::days kSamplesKept{42};
/// Older ones go when there are more: about 100 MB.
inline constexpr std::int64_t kSamplesMax = 1'000'000;
/// In one answer: the newest of what was asked for.
inline constexpr int kSamplesListedMax = 10'000;

struct SampleQuery {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< empty: all
  SysTime begin;          ///< inclusive
  SysTime end = SysTime::max();
};

/// metrics.db: samples, the oldest first to go. One thread at a time; blocking.
class UsageSamples {
 public:
  /// Opens or creates the file. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<UsageSamples> Open(const std::string& path,
                                                 std::int64_t samples_max = kSamplesMax);

  /// All or none.
  [[nodiscard]] Status Add(const std::vector<Sample>& samples);
  /// In order of time.
  [[nodiscard]] Result<std::vector<Sample>> List(const SampleQuery& query);
  /// Removes what is too old or too much.
  [[nodiscard]] Status Prune(SysTime now);

 private:
  UsageSamples(sqlite::Database database, std::int64_t samples_max)
      : database_(std::move(database)), samples_max_(samples_max) {}

  sqlite::Database database_;
  std::int64_t samples_max_;
};

}  // namespace trainyard::metrics
