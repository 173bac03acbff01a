#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Tables of metrics.db: the metrics that programs reported with cloudml-hypertune. Blocking; one thread at a
/// time. Errors: of the database.
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

inline constexpr std::string_view kReportsSchema = R"sql(
CREATE TABLE reports(
  job_uid INTEGER NOT NULL,
  trial_id TEXT NOT NULL,         -- empty: of no trial
  attempt INTEGER NOT NULL,       -- of the master
  tag TEXT NOT NULL,
  report BLOB NOT NULL,           -- a replica.v1.MetricReport
  PRIMARY KEY(job_uid, trial_id, attempt, tag)) STRICT;
)sql";

/// Replaces the stored report of the same attempt and tag. Within the caller's transaction.
[[nodiscard]] Status WriteReports(sqlite::Database& database, std::span<const StoredReport> reports);
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

}  // namespace trainyard::metrics
