#include "stores/logs/log_writer.h"

#include <utility>

#include "base/sqlite/rows.h"
#include "stores/logs/chunk_lines.h"
#include "stores/logs/log_database.h"

namespace trainyard::logs {

namespace {

using replica::v1::LogChunk;
using sqlite::Blob;
using sqlite::Cursor;
using sqlite::Database;
using sqlite::Statement;

constexpr std::uint64_t kStampSpanMax = static_cast<std::uint64_t>(kChunkSpanMax.count());
constexpr std::int64_t kNoTime = -1;  // odd, as all timestamps: so the first line may have 1

Error MissingLines(const LogSource& source, std::int64_t from, std::int64_t to) {
  return InvalidArgument("log", "lines " + std::to_string(from) + " to " + std::to_string(to - 1) + " of " +
                                    source.source + " are missing");
}

}  // namespace

struct LogWriter::JobState {
  bool known = false;
  std::int64_t uid = 0;
  std::int64_t next_line = 0;
  std::int64_t last_time = kNoTime;
  std::int64_t bytes = 0;
};

struct LogWriter::SourceState {
  std::int64_t id = 0;  ///< 0: not known yet
  std::int64_t next_line = 0;
};

struct LogWriter::Statements {
  Statement find_job, add_job, update_job, find_source, add_source, update_source, add_chunk;
  Statement keep_ids, erase_chunks, erase_sources, erase_job;

  static Result<std::unique_ptr<Statements>> Prepare(Database& database) {
    auto statements = std::make_unique<Statements>();
    TY_RETURN_IF_ERROR(database.PrepareAll({
        {&statements->find_job, "SELECT next_line, last_time, bytes FROM jobs WHERE job_uid = ?1"},
        {&statements->add_job, "INSERT INTO jobs VALUES(?1, ?2, ?3, 0, -1, 0)"},
        {&statements->update_job,
         "UPDATE jobs SET next_line = ?2, last_time = ?3, bytes = ?4 WHERE job_uid = ?1"},
        {&statements->find_source,
         "SELECT source_id, next_line FROM sources WHERE job_uid = ?1 AND source = ?2"},
        {&statements->add_source, "INSERT INTO sources VALUES(NULL, ?1, ?2, ?3, ?4, ?5, 0)"},
        {&statements->update_source, "UPDATE sources SET next_line = ?2 WHERE source_id = ?1"},
        {&statements->add_chunk,
         "INSERT INTO chunks VALUES(1 + max((SELECT chunk_id FROM gone), "
         "(SELECT ifnull(max(chunk_id), 0) FROM chunks)), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
         "?13)"},
        {&statements->keep_ids,
         "UPDATE gone SET chunk_id = max(chunk_id, (SELECT ifnull(max(chunk_id), 0) FROM chunks))"},
        {&statements->erase_chunks,
         "DELETE FROM chunks WHERE chunk_id IN (SELECT chunk_id FROM chunks INDEXED BY chunks_by_job "
         "WHERE job_uid = ?1 LIMIT ?2)"},
        {&statements->erase_sources, "DELETE FROM sources WHERE job_uid = ?1"},
        {&statements->erase_job, "DELETE FROM jobs WHERE job_uid = ?1"},
    }));
    return statements;
  }
};

LogWriter::LogWriter(Database database, std::unique_ptr<Statements> statements, const Clock& clock)
    : database_(std::move(database)), statements_(std::move(statements)), clock_(clock) {}

LogWriter::~LogWriter() = default;

Result<std::unique_ptr<LogWriter>> LogWriter::Open(const std::string& path, const Clock& clock) {
  TY_TRY(Database database, OpenLogDatabase(path, false));
  TY_TRY(std::unique_ptr<Statements> statements, Statements::Prepare(database));
  return std::unique_ptr<LogWriter>(new LogWriter(std::move(database), std::move(statements), clock));
}

std::vector<Result<Appended>> LogWriter::Append(std::span<const AppendRequest> requests) {
  const auto fail_all = [&requests](const Error& error) {
    return std::vector<Result<Appended>>(requests.size(), std::unexpected(error));
  };
  std::vector<Result<Appended>> results;
  results.reserve(requests.size());
  const std::int64_t receive_time = clock_.Now().time_since_epoch().count();
  Result<sqlite::Transaction> transaction = sqlite::Transaction::Begin(database_);
  if (!transaction) return fail_all(transaction.error());
  for (const AppendRequest& request : requests) {
    results.push_back(AppendOne(request, receive_time));
    // A refused chunk has written nothing; every other error is one of the database.
    if (!results.back() && results.back().error().code != Code::kInvalidArgument)
      return fail_all(results.back().error());
  }
  if (Status committed = transaction->Commit(); !committed) return fail_all(committed.error());
  return results;
}

Result<Appended> LogWriter::AppendOne(const AppendRequest& request, std::int64_t receive_time) {
  const LogChunk& chunk = request.chunk;
  TY_RETURN_IF_ERROR(CheckChunk(chunk));
  TY_TRY(SourceState source, FindSource(request.source));
  if (chunk.first_line() > source.next_line) {
    return std::unexpected(MissingLines(request.source, source.next_line, chunk.first_line()));
  }
  const std::int64_t drop = source.next_line - chunk.first_line();
  TY_TRY(JobState job, FindJob(request.source));
  if (drop >= chunk.line_count()) return Appended{source.next_line, false, job.bytes};
  TY_RETURN_IF_ERROR(AddNew(request.source, job, source));
  if (drop == 0 && chunk.last_stamp() - chunk.first_stamp() <= kStampSpanMax) {
    TY_RETURN_IF_ERROR(Store(chunk, receive_time, job, source));
  } else {
    for (const LogChunk& piece : CutChunk(chunk, drop, kStampSpanMax)) {
      TY_RETURN_IF_ERROR(Store(piece, receive_time, job, source));
    }
  }
  TY_RETURN_IF_ERROR(statements_->update_job.Run(job.uid, job.next_line, job.last_time, job.bytes));
  TY_RETURN_IF_ERROR(statements_->update_source.Run(source.id, source.next_line));
  return Appended{source.next_line, true, job.bytes};
}

Result<std::int64_t> LogWriter::EraseChunks(std::int64_t job_uid, std::int64_t chunks_max) {
  TY_RETURN_IF_ERROR(statements_->keep_ids.Run());
  TY_RETURN_IF_ERROR(statements_->erase_chunks.Run(job_uid, chunks_max));
  return database_.Changes();
}

/// The job's row goes last: it says how many bytes there were.
Result<LogWriter::ErasedStep> LogWriter::Erase(std::span<const std::int64_t> job_uids,
                                               std::int64_t chunks_max) {
  ErasedStep step;
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  for (const std::int64_t uid : job_uids) {
    TY_TRY(const JobState job, FindJob(LogSource{.job_uid = uid}));
    if (!job.known) continue;
    TY_TRY(const std::int64_t chunks, EraseChunks(uid, chunks_max));
    chunks_max -= chunks;
    if (chunks_max <= 0) {
      TY_RETURN_IF_ERROR(transaction.Commit());
      return step;
    }
    TY_RETURN_IF_ERROR(statements_->erase_sources.Run(uid));
    TY_RETURN_IF_ERROR(statements_->erase_job.Run(uid));
    ++step.logs.jobs;
    step.logs.bytes += job.bytes;
  }
  TY_RETURN_IF_ERROR(transaction.Commit());
  step.done = true;
  return step;
}

Result<LogWriter::JobState> LogWriter::FindJob(const LogSource& source) {
  const std::int64_t uid = source.job_uid;
  TY_TRY(const auto known, FirstRow(statements_->find_job.Query(uid), [uid](const Cursor& row) {
           return JobState{true, uid, row.Int(0), row.Int(1), row.Int(2)};
         }));
  return known.value_or(JobState{.uid = uid});
}

Result<LogWriter::SourceState> LogWriter::FindSource(const LogSource& source) {
  TY_TRY(const auto known, FirstRow(statements_->find_source.Query(source.job_uid, source.source),
                                    [](const Cursor& row) { return SourceState{row.Int(0), row.Int(1)}; }));
  return known.value_or(SourceState{});
}

Status LogWriter::AddNew(const LogSource& source, JobState& job, SourceState& state) {
  if (!job.known) TY_RETURN_IF_ERROR(statements_->add_job.Run(source.job_uid, source.project, source.job_id));
  if (state.id != 0) return {};
  TY_RETURN_IF_ERROR(statements_->add_source.Run(source.job_uid, source.source, source.task_name,
                                                 source.trial_id, source.host_name));
  state.id = database_.LastInsertRowId();
  return {};
}

Status LogWriter::Store(const LogChunk& piece, std::int64_t receive_time, JobState& job,
                        SourceState& source) {
  const std::int64_t first_time = ShownTime(piece.first_stamp(), job.last_time, 0);
  const std::int64_t last_time = ShownTime(piece.last_stamp(), job.last_time, piece.line_count() - 1);
  const SeverityCounts counts = CountSeverities(piece.lines());
  TY_RETURN_IF_ERROR(statements_->add_chunk.Run(
      job.uid, source.id, piece.first_line(), piece.line_count(), job.next_line, job.last_time, first_time,
      last_time, receive_time, Blob{piece.lines()}, counts.warnings, counts.errors, counts.named_errors));
  job.next_line += piece.line_count();
  job.last_time = last_time;
  job.bytes += static_cast<std::int64_t>(piece.lines().size());
  source.next_line += piece.line_count();
  return {};
}

}  // namespace trainyard::logs
