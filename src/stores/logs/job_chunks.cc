#include "stores/logs/job_chunks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/sqlite/rows.h"
#include "stores/logs/log_database.h"

namespace trainyard::logs {

namespace {

using sqlite::Cursor;
using sqlite::Database;
using sqlite::Statement;

enum : int { kChunk, kFirst, kLines, kSource, kFirstTime, kWarnings, kErrors, kNamedErrors };
constexpr std::string_view kColumns =
    "SELECT chunk_id, job_line, line_count, source_id, first_time, warnings, errors, named_errors FROM "
    "chunks ";
// Line numbers of a job have no gaps, so the last chunk that begins at or before a line contains it.
constexpr std::string_view kForward =
    "INDEXED BY chunks_by_line WHERE job_uid = ?1 AND job_line >= coalesce("
    "(SELECT max(job_line) FROM chunks INDEXED BY chunks_by_line WHERE job_uid = ?1 AND job_line <= ?2), ?2) "
    "ORDER BY job_line";
constexpr std::string_view kBackward =
    "INDEXED BY chunks_by_line WHERE job_uid = ?1 AND job_line < ?2 ORDER BY job_line DESC";
constexpr std::string_view kAt =
    "INDEXED BY chunks_by_job WHERE job_uid = ?1 AND first_time <= ?2 ORDER BY first_time DESC LIMIT 1";

std::string Select(std::string_view what) { return std::string(kColumns).append(what); }

Error Erased() { return {Code::kAborted, "the log was deleted while it was read", {}}; }

LineWriter WriterOf(const Cursor& row) {
  return {.replica = std::string(row.Text(0)), .trial_id = std::string(row.Text(1))};
}

}  // namespace

struct JobChunks::Statements {
  Statement total, bytes, writers, at, forward, backward, writer, load;

  static Result<std::unique_ptr<Statements>> Prepare(Database& database) {
    auto statements = std::make_unique<Statements>();
    TY_RETURN_IF_ERROR(database.PrepareAll({
        {&statements->total, "SELECT next_line FROM jobs WHERE job_uid = ?1"},
        {&statements->bytes, "SELECT bytes FROM jobs WHERE job_uid = ?1"},
        {&statements->writers, "SELECT DISTINCT task_name, trial_id FROM sources WHERE job_uid = ?1"},
        {&statements->at, Select(kAt)},
        {&statements->forward, Select(kForward)},
        {&statements->backward, Select(kBackward)},
        {&statements->writer, "SELECT task_name, trial_id FROM sources WHERE source_id = ?1"},
        {&statements->load, "SELECT floor, lines FROM chunks WHERE chunk_id = ?1"},
    }));
    return statements;
  }
};

JobChunks::JobChunks(Database database, std::unique_ptr<Statements> statements)
    : database_(std::move(database)), statements_(std::move(statements)) {}

JobChunks::~JobChunks() = default;

Result<std::unique_ptr<JobChunks>> JobChunks::Open(const std::string& path) {
  TY_TRY(Database database, OpenLogDatabase(path, true));
  TY_TRY(std::unique_ptr<Statements> statements, Statements::Prepare(database));
  return std::unique_ptr<JobChunks>(new JobChunks(std::move(database), std::move(statements)));
}

Result<std::int64_t> JobChunks::Total(std::int64_t job_uid) {
  return FirstInt(statements_->total.Query(job_uid));
}

Result<std::int64_t> JobChunks::Bytes(std::int64_t job_uid) {
  return FirstInt(statements_->bytes.Query(job_uid));
}

Result<std::vector<LineWriter>> JobChunks::Writers(std::int64_t job_uid) {
  TY_TRY(std::vector<LineWriter> writers, AllRows(statements_->writers.Query(job_uid), WriterOf));
  std::ranges::sort(writers);
  return writers;
}

Result<std::optional<ChunkPlace>> JobChunks::At(std::int64_t job_uid, std::int64_t time) {
  return FirstRow(statements_->at.Query(job_uid, time), PlaceOf);
}

Cursor JobChunks::Forward(std::int64_t job_uid, std::int64_t from) {
  return statements_->forward.Query(job_uid, from);
}

Cursor JobChunks::Backward(std::int64_t job_uid, std::int64_t before) {
  return statements_->backward.Query(job_uid, before);
}

ChunkPlace JobChunks::PlaceOf(const Cursor& row) {
  ChunkPlace place{.chunk = row.Int(kChunk),
                   .first = row.Int(kFirst),
                   .lines = row.Int(kLines),
                   .source = row.Int(kSource),
                   .first_time = row.Int(kFirstTime)};
  if (row.IsNull(kErrors)) return place;
  place.counts = {
      .warnings = row.Int(kWarnings), .errors = row.Int(kErrors), .named_errors = row.Int(kNamedErrors)};
  return place;
}

Result<LineWriter> JobChunks::Writer(std::int64_t source) {
  TY_TRY(std::optional<LineWriter> writer, FirstRow(statements_->writer.Query(source), WriterOf));
  if (!writer) return std::unexpected(Erased());
  return *std::move(writer);
}

Result<ChunkContents> JobChunks::Load(std::int64_t chunk) {
  Cursor cursor = statements_->load.Query(chunk);
  TY_TRY(const bool found, cursor.Next());
  if (!found) return std::unexpected(Erased());
  return ChunkContents{.floor = cursor.Int(0), .lines = std::string(cursor.Bytes(1))};
}

Result<std::vector<std::string>> JobChunks::QueryPlans() {
  const std::string forward = Select(kForward);
  const std::string backward = Select(kBackward);
  const std::string at = Select(kAt);
  return database_.QueryPlans(std::array<std::string_view, 3>{forward, backward, at});
}

}  // namespace trainyard::logs
