#include "metrics/usage_samples.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "wire/time.h"

namespace trainyard::metrics {
namespace {

constexpr std::int32_t kApplicationId = 0x54596d74;  // "TYmt"
constexpr std::int64_t kCacheBytes = 1 << 20;

constexpr std::array<std::string_view, 1> kMigrations = {R"sql(
CREATE TABLE samples(
  sample_id INTEGER PRIMARY KEY,  -- in order of arrival: what is old has a small one
  job_uid INTEGER NOT NULL,
  task_name TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  time INTEGER NOT NULL,          -- Unix time in ns
  usage BLOB NOT NULL) STRICT;    -- a replica.v1.Usage
CREATE INDEX samples_by_job ON samples(job_uid, time);
)sql"};

std::int64_t Nanoseconds(SysTime time) { return time.time_since_epoch().count(); }

}  // namespace

Result<UsageSamples> UsageSamples::Open(const std::string& path, std::int64_t samples_max) {
  TY_TRY(sqlite::Database database, sqlite::Database::Open({.path = path,
                                                            .application_id = kApplicationId,
                                                            .migrations = kMigrations,
                                                            .cache_bytes = kCacheBytes}));
  return UsageSamples(std::move(database), samples_max);
}

Status UsageSamples::Add(const std::vector<Sample>& samples) {
  TY_TRY(sqlite::Statement insert,
         database_.Prepare(
             "INSERT INTO samples(job_uid, task_name, attempt, time, usage) VALUES(?1, ?2, ?3, ?4, ?5)"));
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  for (const Sample& sample : samples) {
    const std::string usage = sample.usage.SerializeAsString();
    TY_RETURN_IF_ERROR(insert.Run(sample.job_uid, std::string_view(sample.task_name), sample.attempt,
                                  Nanoseconds(wire::FromProto(sample.usage.time())), sqlite::Blob{usage}));
  }
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

Status UsageSamples::Prune(SysTime now) {
  TY_TRY(sqlite::Statement too_many,
         database_.Prepare("DELETE FROM samples WHERE sample_id <= (SELECT max(sample_id) "
                           "FROM samples) - ?1"));
  TY_RETURN_IF_ERROR(too_many.Run(samples_max_));
  // Starts at the oldest and stops at the first that stays, so no index on the time is needed.
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
