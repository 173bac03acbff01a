#include "stores/metrics/usage_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

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
                                                         kReportsSchema};

std::int64_t Thousandths(double share) { return share < 0 ? -1 : std::llround(share * 1e3); }
double Share(std::int64_t thousandths) {
  return thousandths < 0 ? -1 : static_cast<double>(thousandths) / 1e3;
}

std::int64_t Nanoseconds(SysTime time) { return time.time_since_epoch().count(); }

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
    const std::string usage = sample.usage.SerializeAsString();
    TY_RETURN_IF_ERROR(insert.Run(sample.job_uid, std::string_view(sample.task_name), sample.attempt,
                                  Nanoseconds(wire::FromProto(sample.usage.time())), sqlite::Blob{usage}));
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
  for (;;) {
    TY_TRY(const bool more, rows.Next());
    if (!more) break;
    Sample sample{.job_uid = query.job_uid,
                  .task_name = std::string(rows.Text(0)),
                  .attempt = static_cast<int>(rows.Int(1))};
    if (sample.usage.ParseFromString(std::string(rows.Bytes(2)))) samples.push_back(std::move(sample));
  }
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
    Sample sample{.job_uid = query.job_uid,
                  .task_name = std::string(rows.Text(0)),
                  .attempt = static_cast<int>(rows.Int(1))};
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
  std::vector<MachineSample> samples;
  sqlite::Cursor rows = select.Query(Nanoseconds(begin));
  for (;;) {
    TY_TRY(const bool more, rows.Next());
    if (!more) return samples;
    samples.push_back({.time = SysTime(std::chrono::nanoseconds(rows.Int(0))),
                       .cpu_utilization = Share(rows.Int(1)),
                       .memory_utilization = Share(rows.Int(2)),
                       .gpu_utilization = Share(rows.Int(3)),
                       .replicas = static_cast<double>(rows.Int(4))});
  }
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

}  // namespace trainyard::metrics
