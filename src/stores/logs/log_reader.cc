#include "stores/logs/log_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/sqlite/rows.h"
#include "stores/logs/chunk_search.h"
#include "stores/logs/line_view.h"
#include "stores/logs/log_database.h"

namespace trainyard::logs {

namespace {

using logging::v2::LogEntry;
using sqlite::Cursor;
using sqlite::Database;
using sqlite::Statement;

constexpr int kLinesSearchedMax = 20'000;
constexpr std::size_t kPageBytesMax = std::size_t{8} << 20;
constexpr std::size_t kEntryBytes = 600;  // bytes that each entry has besides its line, as JSON
constexpr std::int64_t kSpan = kChunkSpanMax.count();

// Chunks of one job do not overlap, so the last one that begins at or before `earliest` is the first of
// interest.
constexpr std::string_view kOfJob =
    "WHERE c.job_uid = ?1 AND c.first_time <= ?3 AND c.first_time >= coalesce("
    "(SELECT max(first_time) FROM chunks WHERE job_uid = ?1 AND first_time <= ?2), ?2) ORDER BY c.first_time";
constexpr std::string_view kOldest = "WHERE c.first_time >= ?1 AND c.first_time <= ?2 ORDER BY c.first_time";
constexpr std::string_view kNewest =
    "WHERE c.last_time >= ?1 AND c.last_time <= ?2 ORDER BY c.last_time DESC";

std::string Select(std::string_view what, std::string_view direction = "") {
  return std::string(kSelectChunks).append(what).append(direction);
}

SearchRange RangeOf(const LogQuery& query) {
  // Shown times are between 1 and half of the largest number, so limits can be moved a little without an
  // overflow.
  constexpr std::int64_t kTimeMax = std::numeric_limits<std::int64_t>::max() - 2 * kSpan;
  SearchRange range{.order = query.order};
  range.earliest = std::clamp<std::int64_t>(query.bounds.earliest.time_since_epoch().count(), 0, kTimeMax);
  range.latest = std::clamp<std::int64_t>(query.bounds.latest.time_since_epoch().count(), 0, kTimeMax);
  return range;
}

void GoOnAfter(const Position& position, SearchRange& range) {
  range.after = position;
  if (range.order == Order::kOldestFirst) {
    range.earliest = std::max(range.earliest, position.time);
  } else {
    range.latest = std::min(range.latest, position.time);
  }
}

void AddLine(const FoundLine& found, const LogQuery& query, LogPage& page) {
  LogEntry entry = MakeEntry(*found.common, found.bytes, found.position.time, found.position.job_line);
  if (wire::Matches(query.filter, entry)) page.entries.push_back(std::move(entry));
}

}  // namespace

struct LogReader::Statements {
  Statement next_line, length, project_bytes, older, find_job, job_oldest, job_newest, oldest, newest;

  static Result<std::unique_ptr<Statements>> Prepare(Database& database) {
    auto statements = std::make_unique<Statements>();
    TY_RETURN_IF_ERROR(database.PrepareAll({
        {&statements->project_bytes, "SELECT project, sum(bytes) FROM jobs GROUP BY project"},
        {&statements->older,
         "SELECT job_uid, last_time, bytes FROM jobs WHERE job_uid > ?1 AND last_time < ?2 ORDER BY job_uid "
         "LIMIT ?3"},
        {&statements->next_line, "SELECT next_line FROM sources WHERE job_uid = ?1 AND source = ?2"},
        {&statements->length, "SELECT next_line FROM jobs WHERE job_uid = ?1"},
        {&statements->find_job, "SELECT job_uid FROM jobs WHERE project = ?1 AND job_id = ?2 LIMIT 2"},
        {&statements->job_oldest, Select(kOfJob)},
        {&statements->job_newest, Select(kOfJob, " DESC")},
        {&statements->oldest, Select(kOldest)},
        {&statements->newest, Select(kNewest)},
    }));
    return statements;
  }
};

LogReader::LogReader(Database database, store::PageTokenKey key, std::unique_ptr<Statements> statements)
    : database_(std::move(database)), page_token_key_(key), statements_(std::move(statements)) {}

LogReader::~LogReader() = default;

Result<std::unique_ptr<LogReader>> LogReader::Open(const std::string& path) {
  TY_TRY(Database database, OpenLogDatabase(path, true));
  TY_TRY(const store::PageTokenKey key, store::ReadPageTokenKey(database));
  TY_TRY(std::unique_ptr<Statements> statements, Statements::Prepare(database));
  return std::unique_ptr<LogReader>(new LogReader(std::move(database), key, std::move(statements)));
}

Result<std::map<std::string, std::int64_t>> LogReader::ProjectBytes() {
  std::map<std::string, std::int64_t> bytes;
  TY_RETURN_IF_ERROR(EachRow(statements_->project_bytes.Query(),
                             [&](const Cursor& row) { bytes.emplace(row.Text(0), row.Int(1)); }));
  return bytes;
}

/// A walk over one small row for each job: an index on the time would be written with each chunk.
Result<std::vector<OldLog>> LogReader::Older(SysTime before, std::int64_t after_uid, int count) {
  Cursor rows = statements_->older.Query(after_uid, before.time_since_epoch().count(), count);
  return AllRows(std::move(rows), [](const Cursor& row) {
    return OldLog{
        .job_uid = row.Int(0), .last_line = SysTime(SysTime::duration(row.Int(1))), .bytes = row.Int(2)};
  });
}

Result<std::int64_t> LogReader::NextLine(std::int64_t job_uid, std::string_view source) {
  return FirstInt(statements_->next_line.Query(job_uid, source));
}

Result<std::int64_t> LogReader::Length(std::int64_t job_uid) {
  return FirstInt(statements_->length.Query(job_uid));
}

/// Stops at two for each project: enough to know whether there is exactly one.
Result<std::vector<std::int64_t>> LogReader::FindJobs(const LogQuery& query) {
  std::vector<std::int64_t> uids;
  for (const std::string& project : query.projects) {
    TY_RETURN_IF_ERROR(EachRow(statements_->find_job.Query(project, *query.bounds.job_id),
                               [&](const Cursor& row) { uids.push_back(row.Int(0)); }));
  }
  return uids;
}

Result<LogPage> LogReader::Read(const LogQuery& query) {
  SearchRange range = RangeOf(query);
  if (!query.page_token.empty()) {
    std::array<std::int64_t, 3> numbers{};
    TY_RETURN_IF_ERROR(
        store::OpenPageToken(page_token_key_, query.page_token_context, query.page_token, numbers));
    GoOnAfter({numbers[0], numbers[1], numbers[2]}, range);
  }
  if (query.bounds.nothing || range.earliest > range.latest) return LogPage{};
  const bool oldest_first = range.order == Order::kOldestFirst;
  std::optional<std::int64_t> one_job;
  if (query.bounds.job_id) {
    TY_TRY(const std::vector<std::int64_t> uids, FindJobs(query));
    if (uids.empty()) return LogPage{};
    if (uids.size() == 1) one_job = uids.front();
  }
  Statement& of_job = oldest_first ? statements_->job_oldest : statements_->job_newest;
  if (one_job) return Collect(of_job.Query(*one_job, range.earliest, range.latest), range, query);
  if (oldest_first)
    return Collect(statements_->oldest.Query(range.earliest - kSpan, range.latest), range, query);
  return Collect(statements_->newest.Query(range.earliest, range.latest + kSpan), range, query);
}

Result<LogPage> LogReader::Collect(Cursor chunks, const SearchRange& range, const LogQuery& query) {
  ChunkSearch search(std::move(chunks), range, query);
  LogPage page;
  std::size_t bytes = 0;
  std::optional<Position> last;
  for (int searched = 0;; ++searched) {
    TY_TRY(const std::optional<FoundLine> found, search.Next());
    if (!found) {
      last = search.cut_short();
      break;
    }
    // The page is full, and there is more.
    if (searched == kLinesSearchedMax || bytes >= kPageBytesMax ||
        page.entries.size() == static_cast<std::size_t>(query.page_size)) {
      break;
    }
    const std::size_t before = page.entries.size();
    AddLine(*found, query, page);
    if (page.entries.size() > before) bytes += found->bytes.size() + kEntryBytes;
    last = found->position;
  }
  if (last) {
    const std::array<std::int64_t, 3> numbers = {last->time, last->job_line, last->job_uid};
    page.next_page_token = store::SealPageToken(page_token_key_, query.page_token_context, numbers);
  }
  return page;
}

Result<std::vector<std::string>> LogReader::QueryPlans() {
  const std::string of_job = Select(kOfJob);
  const std::string of_job_backwards = Select(kOfJob, " DESC");
  const std::string oldest = Select(kOldest);
  const std::string newest = Select(kNewest);
  return database_.QueryPlans(std::array<std::string_view, 4>{of_job, of_job_backwards, oldest, newest});
}

}  // namespace trainyard::logs
