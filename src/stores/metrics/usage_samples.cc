#include "stores/metrics/usage_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/sqlite/rows.h"
#include "base/wire/time.h"

namespace trainyard::metrics {
namespace {

constexpr std::int32_t kApplicationId = 0x54596d74;  // "TYmt"
constexpr std::int64_t kCacheBytes = 1 << 20;

constexpr std::array<std::string_view, 3> kMigrations = {R"sql(
CREATE TABLE samples(
  sample_id INTEGER PRIMARY KEY,  -- in order of arrival: what is old has a small one
  job_uid INTEGER NOT NULL,
  task_name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  time INTEGER NOT NULL,          -- Unix time in ns
  usage BLOB NOT NULL) STRICT;    -- a replica.v1.Usage
CREATE INDEX samples_by_job ON samples(job_uid, time);
)sql",
                                                         R"sql(
CREATE TABLE machine_samples(
  time INTEGER PRIMARY KEY,       -- Unix time in ns
  cpu INTEGER NOT NULL,           -- thousandths of all; negative: not known
  memory INTEGER NOT NULL,
  gpu INTEGER NOT NULL,
  replicas INTEGER NOT NULL) STRICT;
)sql",
                                                         R"sql(
CREATE TABLE reports(
  job_uid INTEGER NOT NULL,
  trial_id TEXT NOT NULL,         -- empty: of no trial
  attempt INTEGER NOT NULL,       -- of the master
  tag TEXT NOT NULL,
  report BLOB NOT NULL,           -- a replica.v1.MetricReport
  PRIMARY KEY(job_uid, trial_id, attempt, tag)) STRICT;
)sql"};

std::int64_t Thousandths(double share) { return share < 0 ? -1 : std::llround(share * 1e3); }
double Share(std::int64_t thousandths) {
  return thousandths < 0 ? -1 : static_cast<double>(thousandths) / 1e3;
}

std::int64_t Nanoseconds(SysTime time) { return time.time_since_epoch().count(); }

/// A row of task name and attempt; the usage is parsed by the caller.
Sample SampleOf(std::int64_t job_uid, const sqlite::Cursor& row) {
  return {.job_uid = job_uid, .task_name = std::string(row.Text(0)), .attempt = static_cast<int>(row.Int(1))};
}

/// Replaces the stored report of the same attempt and tag. Within the caller's transaction.
Status WriteReports(sqlite::Database& database, std::span<const StoredReport> reports) {
  TY_TRY(sqlite::Statement write,
         database.Prepare("INSERT OR REPLACE INTO reports(job_uid, trial_id, attempt, tag, report) "
                          "VALUES(?1, ?2, ?3, ?4, ?5)"));
  for (const StoredReport& one : reports) {
    TY_RETURN_IF_ERROR(write.Run(one.job_uid, std::string_view(one.trial_id), one.attempt,
                                 std::string_view(one.tag), sqlite::Blob{one.report.SerializeAsString()}));
  }
  return {};
}

/// The mean of the known values in each part.
class Means {
 public:
  explicit Means(std::size_t parts) : sums_(parts), counts_(parts) {}

  void Add(std::size_t part, double value) {
    if (value < 0) return;
    sums_[part] += value;
    ++counts_[part];
    any_ = true;
  }
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::vector<float> Take() const {
    std::vector<float> means;
    for (std::size_t part = 0; part < sums_.size(); ++part)
      means.push_back(counts_[part] == 0 ? -1 : static_cast<float>(sums_[part] / counts_[part]));
    return means;
  }

 private:
  std::vector<double> sums_;
  std::vector<int> counts_;
  bool any_ = false;
};

}  // namespace

Result<UsageSamples> UsageSamples::Open(const std::string& path, std::int64_t samples_max) {
  TY_TRY(sqlite::Database database, sqlite::Database::Open({.path = path,
                                                            .application_id = kApplicationId,
                                                            .migrations = kMigrations,
                                                            .cache_bytes = kCacheBytes}));
  return UsageSamples(std::move(database), samples_max);
}

Status UsageSamples::Write(const std::vector<Sample>& samples, std::span<const StoredReport> reports) {
  TY_TRY(sqlite::Statement insert,
         database_.Prepare(
             "INSERT INTO samples(job_uid, task_name, attempt, time, usage) VALUES(?1, ?2, ?3, ?4, ?5)"));
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  for (const Sample& sample : samples) {
    TY_RETURN_IF_ERROR(insert.Run(sample.job_uid, std::string_view(sample.task_name), sample.attempt,
                                  Nanoseconds(wire::FromProto(sample.usage.time())),
                                  sqlite::Blob{sample.usage.SerializeAsString()}));
  }
  TY_RETURN_IF_ERROR(WriteReports(database_, reports));
  return transaction.Commit();
}

Result<std::vector<Sample>> UsageSamples::List(const SampleQuery& query) {
  TY_TRY(sqlite::Statement select,
         database_.Prepare(
             "SELECT task_name, attempt, usage FROM samples WHERE job_uid = ?1 AND time >= ?2 AND time < ?3 "
             "AND (?4 = '' OR task_name = ?4) ORDER BY time DESC, sample_id DESC LIMIT ?5"));
  std::vector<Sample> samples;
  sqlite::Cursor rows = select.Query(query.job_uid, Nanoseconds(query.begin), Nanoseconds(query.end),
                                     std::string_view(query.task_name), kSamplesListedMax);
  TY_RETURN_IF_ERROR(EachRow(std::move(rows), [&](const sqlite::Cursor& row) {
    Sample sample = SampleOf(query.job_uid, row);
    if (sample.usage.ParseFromString(std::string(row.Bytes(2)))) samples.push_back(std::move(sample));
  }));
  std::ranges::reverse(samples);
  return samples;
}

Result<UsageSamples::Page> UsageSamples::List(const SampleQuery& query, Position after, int count) {
  TY_TRY(sqlite::Statement select,
         database_.Prepare(
             "SELECT task_name, attempt, usage, time, sample_id FROM samples WHERE job_uid = ?1 AND (time, "
             "sample_id) > (?2, ?3) AND time >= ?4 AND time < ?5 AND (?6 = '' OR task_name = ?6) ORDER BY "
             "time, sample_id LIMIT ?7"));
  Page page{.samples = {}, .last = after};
  sqlite::Cursor rows = select.Query(query.job_uid, after.time_ns, after.sample_id, Nanoseconds(query.begin),
                                     Nanoseconds(query.end), std::string_view(query.task_name), count);
  for (;;) {
    TY_TRY(const bool more, rows.Next());
    if (!more) return page;
    Sample sample = SampleOf(query.job_uid, rows);
    // A sample that cannot be parsed still counts, so that the page is not taken for the last one.
    std::ignore = sample.usage.ParseFromString(std::string(rows.Bytes(2)));
    page.samples.push_back(std::move(sample));
    page.last = {.time_ns = rows.Int(3), .sample_id = rows.Int(4)};
  }
}

Status UsageSamples::AddMachine(const MachineSample& sample) {
  TY_TRY(sqlite::Statement insert,
         database_.Prepare("INSERT OR REPLACE INTO machine_samples(time, cpu, memory, gpu, replicas) "
                           "VALUES(?1, ?2, ?3, ?4, ?5)"));
  return insert.Run(Nanoseconds(sample.time), Thousandths(sample.cpu_utilization),
                    Thousandths(sample.memory_utilization), Thousandths(sample.gpu_utilization),
                    std::llround(sample.replicas));
}

Result<std::vector<MachineSample>> UsageSamples::ListMachine(SysTime begin) {
  TY_TRY(sqlite::Statement select,
         database_.Prepare(
             "SELECT time, cpu, memory, gpu, replicas FROM machine_samples WHERE time >= ?1 ORDER BY time"));
  return AllRows(select.Query(Nanoseconds(begin)), [](const sqlite::Cursor& row) {
    return MachineSample{.time = SysTime(std::chrono::nanoseconds(row.Int(0))),
                         .cpu_utilization = Share(row.Int(1)),
                         .memory_utilization = Share(row.Int(2)),
                         .gpu_utilization = Share(row.Int(3)),
                         .replicas = static_cast<double>(row.Int(4))};
  });
}

Status UsageSamples::Prune(SysTime now) {
  TY_RETURN_IF_ERROR(PruneReports(database_, kReportsMax));
  TY_TRY(sqlite::Statement machine, database_.Prepare("DELETE FROM machine_samples WHERE time < ?1"));
  TY_RETURN_IF_ERROR(machine.Run(Nanoseconds(now - kSamplesKept)));
  TY_TRY(sqlite::Statement too_many,
         database_.Prepare("DELETE FROM samples WHERE sample_id <= (SELECT max(sample_id) "
                           "FROM samples) - ?1"));
  TY_RETURN_IF_ERROR(too_many.Run(samples_max_));
  // Starts at the oldest and stops at the first that is kept, so no index on the time is needed.
  TY_TRY(sqlite::Statement too_old,
         database_.Prepare(
             "DELETE FROM samples WHERE sample_id < coalesce((SELECT sample_id FROM samples WHERE time >= "
             "?1 ORDER BY sample_id LIMIT 1), (SELECT max(sample_id) + 1 FROM samples))"));
  return too_old.Run(Nanoseconds(now - kSamplesKept));
}

Result<std::int64_t> UsageSamples::Erase(const std::vector<std::int64_t>& job_uids, std::int64_t count) {
  TY_TRY(sqlite::Statement erase,
         database_.Prepare("DELETE FROM samples WHERE sample_id IN (SELECT sample_id FROM samples INDEXED BY "
                           "samples_by_job WHERE job_uid = ?1 LIMIT ?2)"));
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  TY_RETURN_IF_ERROR(EraseReports(database_, job_uids));
  std::int64_t erased = 0;
  for (const std::int64_t uid : job_uids) {
    TY_RETURN_IF_ERROR(erase.Run(uid, count - erased));
    erased += database_.Changes();
    if (erased == count) break;
  }
  TY_RETURN_IF_ERROR(transaction.Commit());
  return erased;
}

MachineSpan SpanOf(SysTime now, std::chrono::hours hours) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(hours);
  const auto per_part = (minutes.count() + static_cast<std::int64_t>(kMachinePartsMax) - 1) /
                        static_cast<std::int64_t>(kMachinePartsMax);
  MachineSpan span{.step = std::chrono::minutes(std::max<std::int64_t>(1, per_part))};
  span.parts = static_cast<std::size_t>(std::chrono::duration_cast<std::chrono::seconds>(hours) / span.step);
  const auto since = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  const auto end = (since / span.step + 1) * span.step;  // of the current part
  span.start = SysTime(end - span.step * static_cast<std::int64_t>(span.parts));
  return span;
}

MachineColumns ColumnsOf(std::span<const MachineSample> samples, const MachineSpan& span) {
  Means cpu(span.parts);
  Means memory(span.parts);
  Means gpu(span.parts);
  Means replicas(span.parts);
  for (const MachineSample& sample : samples) {
    if (sample.time < span.start) continue;
    const auto part = static_cast<std::size_t>((sample.time - span.start) / span.step);
    if (part >= span.parts) continue;
    cpu.Add(part, sample.cpu_utilization);
    memory.Add(part, sample.memory_utilization);
    gpu.Add(part, sample.gpu_utilization);
    replicas.Add(part, sample.replicas);
  }
  MachineColumns columns{.cpu = cpu.Take(), .memory = memory.Take(), .gpu = {}, .replicas = replicas.Take()};
  if (gpu.any()) columns.gpu = gpu.Take();
  return columns;
}

Result<std::vector<StoredReport>> ReadReports(sqlite::Database& database, const ReportQuery& query) {
  TY_TRY(sqlite::Statement select,
         database.Prepare("SELECT attempt, tag, report FROM reports WHERE job_uid = ?1 AND trial_id = ?2 "
                          "ORDER BY tag, attempt LIMIT ?3"));
  std::vector<StoredReport> reports;
  for (const std::string& trial_id : query.trial_ids) {
    sqlite::Cursor rows =
        select.Query(query.job_uid, std::string_view(trial_id), kReportsListedMax - std::ssize(reports));
    TY_RETURN_IF_ERROR(EachRow(std::move(rows), [&](const sqlite::Cursor& row) {
      StoredReport one{.job_uid = query.job_uid,
                       .trial_id = trial_id,
                       .attempt = static_cast<int>(row.Int(0)),
                       .tag = std::string(row.Text(1)),
                       .report = {}};
      if (one.report.ParseFromString(std::string(row.Bytes(2)))) reports.push_back(std::move(one));
    }));
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
