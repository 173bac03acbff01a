#include "stores/metrics/stored_reports.h"

#include <utility>

namespace trainyard::metrics {

Status WriteReports(sqlite::Database& database, std::span<const StoredReport> reports) {
  TY_TRY(sqlite::Statement write,
         database.Prepare("INSERT OR REPLACE INTO reports(job_uid, trial_id, attempt, tag, report) "
                          "VALUES(?1, ?2, ?3, ?4, ?5)"));
  for (const StoredReport& one : reports) {
    const std::string report = one.report.SerializeAsString();
    TY_RETURN_IF_ERROR(write.Run(one.job_uid, std::string_view(one.trial_id), one.attempt,
                                 std::string_view(one.tag), sqlite::Blob{report}));
  }
  return {};
}

Result<std::vector<StoredReport>> ReadReports(sqlite::Database& database, const ReportQuery& query) {
  TY_TRY(sqlite::Statement select,
         database.Prepare("SELECT attempt, tag, report FROM reports WHERE job_uid = ?1 AND trial_id = ?2 "
                          "ORDER BY tag, attempt LIMIT ?3"));
  std::vector<StoredReport> reports;
  for (const std::string& trial_id : query.trial_ids) {
    sqlite::Cursor rows =
        select.Query(query.job_uid, std::string_view(trial_id), kReportsListedMax - std::ssize(reports));
    for (;;) {
      TY_TRY(const bool more, rows.Next());
      if (!more) break;
      StoredReport one{.job_uid = query.job_uid,
                       .trial_id = trial_id,
                       .attempt = static_cast<int>(rows.Int(0)),
                       .tag = std::string(rows.Text(1)),
                       .report = {}};
      if (one.report.ParseFromString(std::string(rows.Bytes(2)))) reports.push_back(std::move(one));
    }
  }
  return reports;
}

Status EraseReports(sqlite::Database& database, std::span<const std::int64_t> job_uids) {
  TY_TRY(sqlite::Statement erase, database.Prepare("DELETE FROM reports WHERE job_uid = ?1"));
  for (const std::int64_t uid : job_uids) TY_RETURN_IF_ERROR(erase.Run(uid));
  return {};
}

Status PruneReports(sqlite::Database& database, std::int64_t reports_max) {
  TY_TRY(sqlite::Statement prune,
         database.Prepare(
             "DELETE FROM reports WHERE (job_uid, trial_id, attempt) <= (SELECT job_uid, trial_id, attempt "
             "FROM reports ORDER BY job_uid DESC, trial_id DESC, attempt DESC LIMIT 1 OFFSET ?1)"));
  return prune.Run(reports_max);
}

}  // namespace trainyard::metrics
