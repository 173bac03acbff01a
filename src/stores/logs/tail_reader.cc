#include "stores/logs/tail_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "stores/logs/chunk_lines.h"
#include "stores/logs/chunk_search.h"
#include "stores/logs/line_view.h"
#include "stores/logs/log_database.h"

namespace trainyard::logs {

using namespace chunk_column;

namespace {

using sqlite::Cursor;
using sqlite::Database;
using sqlite::Statement;

constexpr int kLinesSearchedMax = 20'000;
constexpr int kChunksPassedMax = 10'000;
constexpr std::size_t kPageBytesMax = std::size_t{256}
                                      << 10;  // memory that a tail uses while its client is slow

// Chunks of one job do not overlap, so the last one that begins at or before a time is the first of interest.
constexpr std::string_view kOfJob =
    "WHERE c.job_uid = ?1 AND c.first_time >= coalesce("
    "(SELECT max(first_time) FROM chunks WHERE job_uid = ?1 AND first_time <= ?2), ?2) ORDER BY c.first_time";
constexpr std::string_view kOfAll = "WHERE c.chunk_id >= ?1 ORDER BY c.chunk_id";
constexpr std::string_view kEndOfJob =
    "SELECT chunk_id, first_time, line_count FROM chunks WHERE job_uid = ?1 ORDER BY first_time DESC LIMIT 1";
constexpr std::string_view kEndOfAll =
    "SELECT chunk_id, first_time, line_count FROM chunks ORDER BY chunk_id DESC LIMIT 1";
constexpr std::string_view kSince = "SELECT min(chunk_id) FROM chunks WHERE last_time >= ?1";

std::string Select(std::string_view what) { return std::string(kSelectChunks).append(what); }

std::int64_t EarliestOf(const LogQuery& query) {
  return std::clamp<std::int64_t>(query.bounds.earliest.time_since_epoch().count(), 0,
                                  std::numeric_limits<std::int64_t>::max() / 2);
}

/// Fills one page, chunk by chunk.
class PageFiller {
 public:
  PageFiller(const LogQuery& query, TailPosition from, std::optional<TailPosition> until, TailJob job)
      : query_(query), earliest_(EarliestOf(query)), from_(from), until_(until) {
    page_.position = from;
    page_.job = job;
  }

  [[nodiscard]] bool Full() const {
    return is_at_end_ || page_.entries.size() == kTailEntriesMax || bytes_ >= kPageBytesMax ||
           searched_ == kLinesSearchedMax || passed_ == kChunksPassedMax;
  }

  Status Take(const Cursor& row) {
    is_at_end_ = !IsWanted({row.Int(kChunk), row.Int(kFirstTime), 0});
    if (is_at_end_) return {};
    const std::int64_t skip = row.Int(kChunk) == from_.chunk ? from_.lines : 0;
    if (skip >= row.Int(kLineCount)) return {};
    if (row.Int(kLastTime) < earliest_ || !IsAskedFor(row, query_)) {
      ++passed_;
      page_.position = {row.Int(kChunk), row.Int(kFirstTime), row.Int(kLineCount)};
      return {};
    }
    const logging::v2::LogEntry common = CommonPart(row);
    LineReader reader(row.Bytes(kLines));
    std::int64_t index = 0;
    for (std::optional<RawLine> line = reader.Next(); line; line = reader.Next(), ++index) {
      if (index < skip) continue;
      is_at_end_ = !IsWanted({row.Int(kChunk), row.Int(kFirstTime), index});
      if (Full()) return {};
      TakeLine(row, common, *line, index);
    }
    if (reader.Damaged() || index != row.Int(kLineCount)) {
      return std::unexpected(DataLoss("the log holds a damaged chunk"));
    }
    return {};
  }

  TailPage Finish(bool caught_up) {
    page_.caught_up = caught_up && !is_at_end_;
    std::ranges::sort(page_.entries, {}, [](const logging::v2::LogEntry& entry) {
      return std::pair(entry.timestamp().seconds(), entry.timestamp().nanos());
    });
    return std::move(page_);
  }

 private:
  [[nodiscard]] bool IsWanted(TailPosition next) const { return !until_ || next.IsBefore(*until_); }

  void TakeLine(const Cursor& row, const logging::v2::LogEntry& common, const RawLine& line,
                std::int64_t index) {
    ++searched_;
    page_.position = {row.Int(kChunk), row.Int(kFirstTime), index + 1};
    const std::int64_t time = ShownTime(line.stamp, row.Int(kFloor), index);
    logging::v2::LogEntry entry = MakeEntry(common, line.bytes, time, row.Int(kJobLine) + index);
    if (!wire::Matches(query_.filter, entry)) return;
    bytes_ += line.bytes.size();
    page_.entries.push_back(std::move(entry));
  }

  const LogQuery& query_;
  const std::int64_t earliest_;
  const TailPosition from_;
  const std::optional<TailPosition> until_;
  bool is_at_end_ = false;  ///< what follows is after `until_`
  TailPage page_;
  std::size_t bytes_ = 0;
  int searched_ = 0;
  int passed_ = 0;
};

}  // namespace

struct TailReader::Statements {
  Statement find_job, of_job, of_all, end_of_job, end_of_all, since;

  static Result<std::unique_ptr<Statements>> Prepare(Database& database) {
    auto statements = std::make_unique<Statements>();
    TY_RETURN_IF_ERROR(database.PrepareAll({
        {&statements->find_job, "SELECT job_uid FROM jobs WHERE project = ?1 AND job_id = ?2 LIMIT 2"},
        {&statements->of_job, Select(kOfJob)},
        {&statements->of_all, Select(kOfAll)},
        {&statements->end_of_job, kEndOfJob},
        {&statements->end_of_all, kEndOfAll},
        {&statements->since, kSince},
    }));
    return statements;
  }
};

TailReader::TailReader(Database database, store::PageTokenKey key, std::unique_ptr<Statements> statements)
    : database_(std::move(database)), cursor_key_(key), statements_(std::move(statements)) {}

TailReader::~TailReader() = default;

Result<std::unique_ptr<TailReader>> TailReader::Open(const std::string& path) {
  TY_TRY(Database database, OpenLogDatabase(path, true));
  TY_TRY(const store::PageTokenKey key, store::ReadPageTokenKey(database));
  TY_TRY(std::unique_ptr<Statements> statements, Statements::Prepare(database));
  return std::unique_ptr<TailReader>(new TailReader(std::move(database), key, std::move(statements)));
}

/// Most tails follow one job of one project; all others read every chunk that arrives.
Result<TailJob> TailReader::FindJob(const LogQuery& query) {
  if (!query.bounds.job_id || query.projects.size() != 1) return TailJob{};
  Cursor cursor = statements_->find_job.Query(query.projects[0], *query.bounds.job_id);
  TY_TRY(const bool found, cursor.Next());
  if (!found) return TailJob{.kind = TailJob::Kind::kNotYet};
  const TailJob job{.kind = TailJob::Kind::kOne, .uid = cursor.Int(0)};
  TY_TRY(const bool another, cursor.Next());
  return another ? TailJob{} : job;
}

Result<TailPosition> TailReader::End(const TailJob& job) {
  if (job.kind == TailJob::Kind::kNotYet) return TailPosition{};
  Cursor cursor = job.kind == TailJob::Kind::kOne ? statements_->end_of_job.Query(job.uid)
                                                  : statements_->end_of_all.Query();
  TY_TRY(const bool found, cursor.Next());
  return found ? TailPosition{cursor.Int(0), cursor.Int(1), cursor.Int(2)} : TailPosition{};
}

Result<TailPosition> TailReader::Start(const LogQuery& query, std::string_view cursor) {
  if (!cursor.empty()) {
    std::array<std::int64_t, 3> numbers{};
    if (!store::OpenPageToken(cursor_key_, query.page_token_context, cursor, numbers)) {
      return std::unexpected(InvalidArgument("cursor", "The cursor is not one of a tail with this filter"));
    }
    return TailPosition{numbers[0], numbers[1], numbers[2]};
  }
  TY_TRY(const TailJob job, FindJob(query));
  const std::int64_t earliest = EarliestOf(query);
  if (query.bounds.earliest == SysTime::min()) return End(job);
  if (job.kind != TailJob::Kind::kAny || earliest == 0) return TailPosition{};  // Read() finds the time
  Cursor since = statements_->since.Query(earliest);
  TY_TRY(const bool found, since.Next());
  if (found && !since.IsNull(0)) return TailPosition{since.Int(0), 0, 0};
  return End(job);
}

std::string TailReader::Seal(const LogQuery& query, const TailPosition& position) const {
  const std::array<std::int64_t, 3> numbers = {position.chunk, position.first_time, position.lines};
  return store::SealPageToken(cursor_key_, query.page_token_context, numbers);
}

Result<TailPage> TailReader::Read(const LogQuery& query, TailPosition from,
                                  std::optional<TailPosition> until) {
  TY_TRY(const TailJob job, FindJob(query));
  PageFiller page(query, from, until, job);
  if (job.kind == TailJob::Kind::kNotYet || query.bounds.nothing) return page.Finish(true);
  Cursor rows = job.kind == TailJob::Kind::kOne
                    ? statements_->of_job.Query(job.uid, std::max(from.first_time, EarliestOf(query)))
                    : statements_->of_all.Query(from.chunk);
  bool more = true;
  while (!page.Full()) {
    TY_TRY(more, rows.Next());
    if (!more) break;
    TY_RETURN_IF_ERROR(page.Take(rows));
  }
  return page.Finish(!more);
}

Result<std::vector<std::string>> TailReader::QueryPlans() {
  const std::string of_job = Select(kOfJob);
  const std::string of_all = Select(kOfAll);
  return database_.QueryPlans(std::array<std::string_view, 5>{of_job, of_all, kEndOfJob, kEndOfAll, kSince});
}

}  // namespace trainyard::logs
