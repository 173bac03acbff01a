#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/log_store.h"

namespace trainyard::logs {

/// One chunk to append.
struct AppendRequest {
  LogSource source;
  replica::v1::LogChunk chunk;
};

/// The result of appending one chunk.
struct Appended {
  std::int64_t next_line = 0;  ///< of the source
  bool stored = false;         ///< false: all of its lines were stored before
  std::int64_t job_bytes = 0;  ///< of the job's lines now
};

/// The connection that writes logs.db. One thread at a time.
class LogWriter {
 public:
  /// Opens or creates the file. The clock outlives the writer; it gives receive times.
  [[nodiscard]] static Result<std::unique_ptr<LogWriter>> Open(const std::string& path, const Clock& clock);
  ~LogWriter();

  /// Stores the chunks in order, all durable together when it returns. A refused chunk (kInvalidArgument:
  /// malformed, or lines before it are missing) does not affect the others. If writing fails
  /// (kResourceExhausted: full disk), every request gets that error and nothing is stored.
  [[nodiscard]] std::vector<Result<Appended>> Append(std::span<const AppendRequest> requests);

  /// Erases lines of these jobs, at most `chunks_max` chunks in one transaction. Returns the jobs that were
  /// completely erased; `done`: all were.
  struct ErasedStep {
    ErasedLogs logs;
    bool done = false;
  };
  [[nodiscard]] Result<ErasedStep> Erase(std::span<const std::int64_t> job_uids, std::int64_t chunks_max);

 private:
  struct Statements;
  struct JobState;
  struct SourceState;

  LogWriter(sqlite::Database database, std::unique_ptr<Statements> statements, const Clock& clock);
  Result<Appended> AppendOne(const AppendRequest& request, std::int64_t receive_time);
  Result<JobState> FindJob(const LogSource& source);
  Result<SourceState> FindSource(const LogSource& source);
  Result<std::int64_t> EraseChunks(std::int64_t job_uid, std::int64_t chunks_max);
  Status AddNew(const LogSource& source, JobState& job, SourceState& state);
  Status Store(const replica::v1::LogChunk& piece, std::int64_t receive_time, JobState& job,
               SourceState& source);

  sqlite::Database database_;
  std::unique_ptr<Statements> statements_;
  const Clock& clock_;
};

}  // namespace trainyard::logs
