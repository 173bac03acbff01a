#include "stores/logs/log_database.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/sqlite/rows.h"
#include "stores/store/page_token.h"

namespace trainyard::logs {

namespace {

constexpr std::int32_t kApplicationId = 0x54596c67;  // "TYlg"
// Chunks are tens of kilobytes: large pages mean fewer writes. Measured in bench/logs_bench.cc.
constexpr std::int32_t kPageBytes = 16 << 10;
constexpr std::int64_t kCacheBytes = 32 << 20;
constexpr std::int64_t kCheckpointBytes = 16 << 20;  // a longer one stalls the appends after it

// A rowid table that only grows at its end; `lines` comes last, so that skipping a chunk does not read it.
constexpr std::array<std::string_view, 3> kMigrations = {R"sql(
CREATE TABLE jobs(
  job_uid INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  job_id TEXT NOT NULL,
  next_line INTEGER NOT NULL,   -- over all sources: the next insert id
  last_time INTEGER NOT NULL,   -- as shown; -1 before the first line
  bytes INTEGER NOT NULL) STRICT;  -- of the lines of all its chunks
CREATE INDEX jobs_by_name ON jobs(project, job_id);
CREATE TABLE sources(
  source_id INTEGER PRIMARY KEY,
  job_uid INTEGER NOT NULL REFERENCES jobs(job_uid),
  source TEXT NOT NULL,
  task_name TEXT NOT NULL,
  trial_id TEXT NOT NULL,
  host_name TEXT NOT NULL,
  next_line INTEGER NOT NULL,
  UNIQUE(job_uid, source)) STRICT;
CREATE TABLE chunks(
  chunk_id INTEGER PRIMARY KEY,
  job_uid INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  first_line INTEGER NOT NULL,  -- within the source
  line_count INTEGER NOT NULL,
  job_line INTEGER NOT NULL,    -- the first line's number within the job
  floor INTEGER NOT NULL,       -- last_time of the job before: with it the lines' own stamps become shown times
  first_time INTEGER NOT NULL,  -- as shown, Unix time in ns; strictly increasing within the job
  last_time INTEGER NOT NULL,
  receive_time INTEGER NOT NULL,
  lines BLOB NOT NULL) STRICT;  -- a replica.v1.LogLines
CREATE INDEX chunks_by_job ON chunks(job_uid, first_time);
CREATE INDEX chunks_by_first_time ON chunks(first_time);
CREATE INDEX chunks_by_last_time ON chunks(last_time);
CREATE TABLE page_token_key(value BLOB NOT NULL) STRICT;
INSERT INTO page_token_key VALUES(randomblob(16));
)sql",
                                                         // Lines by number (job_chunks.h). The index has
                                                         // everything that a walk needs before it reads
                                                         // lines: the table is not read.
                                                         R"sql(
ALTER TABLE chunks ADD COLUMN warnings INTEGER;  -- lines of WARNING; NULL: stored before they were counted
ALTER TABLE chunks ADD COLUMN errors INTEGER;    -- lines of ERROR and above
ALTER TABLE chunks ADD COLUMN named_errors INTEGER;  -- without those of which only the stream says so
CREATE INDEX chunks_by_line
  ON chunks(job_uid, job_line, line_count, source_id, first_time, warnings, errors, named_errors);
)sql",
                                                         // A tail continues after a chunk_id, which therefore
                                                         // is never reused: not after the newest chunks were
                                                         // erased, and not in a file that was recreated.
                                                         R"sql(
CREATE TABLE gone(chunk_id INTEGER NOT NULL) STRICT;  -- a new chunk's id is above it
INSERT INTO gone VALUES(max(unixepoch() * 1000, (SELECT ifnull(max(chunk_id), 0) FROM chunks)));
)sql"};

}  // namespace

Result<sqlite::Database> OpenLogDatabase(const std::string& path, bool read_only) {
  TY_TRY(sqlite::Database database, sqlite::Database::Open({.path = path,
                                                            .application_id = kApplicationId,
                                                            .migrations = kMigrations,
                                                            .read_only = read_only,
                                                            .page_bytes = kPageBytes,
                                                            .cache_bytes = kCacheBytes,
                                                            .checkpoint_bytes = kCheckpointBytes}));
  if (!read_only) TY_RETURN_IF_ERROR(store::ReplaceLostPageTokenKey(database));
  return database;
}

Result<std::optional<NamedJob>> NewestJob(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  TY_TRY(sqlite::Database database, sqlite::Database::OpenAsItIs(path));
  TY_TRY(sqlite::Statement newest,
         database.Prepare("SELECT job_uid, project, job_id FROM jobs ORDER BY job_uid DESC LIMIT 1"));
  return FirstRow(newest.Query(), [](const sqlite::Cursor& row) {
    return NamedJob{row.Int(0), std::string(row.Text(1)), std::string(row.Text(2))};
  });
}

}  // namespace trainyard::logs
