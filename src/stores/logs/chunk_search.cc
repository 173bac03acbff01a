#include "stores/logs/chunk_search.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "base/wire/time.h"
#include "stores/logs/chunk_lines.h"
#include "stores/logs/line_view.h"

namespace trainyard::logs {

using namespace chunk_column;

namespace {

/// Chunks that a search passes over before it ends.
constexpr std::int64_t kChunksPassedOverMax = 10'000;

}  // namespace

// CROSS JOIN keeps SQLite from starting at a table other than chunks.
const std::string_view kSelectChunks =
    "SELECT c.job_uid, c.job_line, c.line_count, c.floor, c.first_time, c.last_time, c.receive_time, "
    "j.project, s.task_name, j.job_id, s.trial_id, s.host_name, c.chunk_id, c.lines "
    "FROM chunks c CROSS JOIN jobs j ON j.job_uid = c.job_uid CROSS JOIN sources s ON s.source_id = "
    "c.source_id ";

logging::v2::LogEntry CommonPart(const sqlite::Cursor& row) {
  const LogSource source{.project = std::string(row.Text(kProject)),
                         .job_id = std::string(row.Text(kJobId)),
                         .task_name = std::string(row.Text(kTaskName)),
                         .trial_id = std::string(row.Text(kTrialId)),
                         .host_name = std::string(row.Text(kHostName))};
  logging::v2::LogEntry entry = EntryTemplate(source);
  *entry.mutable_receive_timestamp() =
      wire::ToProto(SysTime(std::chrono::nanoseconds(row.Int(kReceiveTime))));
  return entry;
}

bool IsAskedFor(const sqlite::Cursor& row, const LogQuery& query) {
  if (!std::ranges::binary_search(query.projects, row.Text(kProject))) return false;
  return !query.bounds.task_name || *query.bounds.task_name == row.Text(kTaskName);
}

/// A chunk with lines that were not returned yet, the next one at the back.
struct ChunkSearch::Chunk {
  struct Line {
    Position position;
    std::size_t offset;
    std::size_t size;
  };
  logging::v2::LogEntry common;
  std::string bytes;
  std::vector<Line> lines;
};

ChunkSearch::ChunkSearch(sqlite::Cursor chunks, const SearchRange& range, const LogQuery& query)
    : chunks_(std::move(chunks)), range_(range), query_(query) {}

ChunkSearch::~ChunkSearch() = default;

Result<std::optional<FoundLine>> ChunkSearch::Next() {
  if (!std::exchange(started_, true)) TY_RETURN_IF_ERROR(Advance());
  if (current_ != nullptr) {
    current_->lines.pop_back();
    if (!current_->lines.empty()) PutBack(std::move(current_));
    current_.reset();
  }
  for (;;) {
    if (!open_.empty()) {
      const std::int64_t time = open_.front()->lines.back().position.time;
      const bool first = range_.order == Order::kOldestFirst ? time < Edge() : time > Edge();
      if (!at_row_ || first) return TakeFront();
    }
    if (!at_row_ || cut_short_) return std::nullopt;
    TY_RETURN_IF_ERROR(TakeRow());
  }
}

Status ChunkSearch::Advance() {
  TY_TRY(at_row_, chunks_.Next());
  return {};
}

/// Opens or skips the cursor's chunk, and advances the cursor.
Status ChunkSearch::TakeRow() {
  const bool forward = range_.order == Order::kOldestFirst;
  if (Wanted()) {
    TY_RETURN_IF_ERROR(OpenChunk());
  } else if (forward ? Edge() >= range_.earliest : Edge() <= range_.latest) {
    ++passed_over_;
  }
  TY_RETURN_IF_ERROR(Advance());
  // Continuing from the edge must make progress, or the client would ask for the same page forever.
  if (passed_over_ < kChunksPassedOverMax || !open_.empty() || !at_row_) return {};
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (forward && Edge() > range_.earliest) cut_short_ = Position{Edge(), -1, -1};
  if (!forward && Edge() < range_.latest) cut_short_ = Position{Edge(), kMax, kMax};
  return {};
}

FoundLine ChunkSearch::TakeFront() {
  std::ranges::pop_heap(open_, [this](const auto& a, const auto& b) {
    return Before(b->lines.back().position, a->lines.back().position);
  });
  current_ = std::move(open_.back());
  open_.pop_back();
  const Chunk::Line& line = current_->lines.back();
  return {line.position, &current_->common, std::string_view(current_->bytes).substr(line.offset, line.size)};
}

void ChunkSearch::PutBack(std::unique_ptr<Chunk> chunk) {
  open_.push_back(std::move(chunk));
  std::ranges::push_heap(open_, [this](const auto& a, const auto& b) {
    return Before(b->lines.back().position, a->lines.back().position);
  });
}

Status ChunkSearch::OpenChunk() {
  auto chunk = std::make_unique<Chunk>();
  chunk->bytes = chunks_.Bytes(kLines);
  const std::int64_t floor = chunks_.Int(kFloor);
  const std::int64_t first_job_line = chunks_.Int(kJobLine);
  const std::int64_t job_uid = chunks_.Int(kJobUid);
  LineReader reader(chunk->bytes);
  std::int64_t index = 0;
  for (std::optional<RawLine> line = reader.Next(); line; line = reader.Next(), ++index) {
    const Position position{ShownTime(line->stamp, floor, index), first_job_line + index, job_uid};
    if (!InRange(position)) continue;
    const auto offset = static_cast<std::size_t>(line->bytes.data() - chunk->bytes.data());
    chunk->lines.push_back({position, offset, line->bytes.size()});
  }
  if (reader.Damaged() || index != chunks_.Int(kLineCount)) {
    return std::unexpected(DataLoss("the log holds a damaged chunk"));
  }
  if (chunk->lines.empty()) return {};
  if (range_.order == Order::kOldestFirst) std::ranges::reverse(chunk->lines);
  chunk->common = CommonPart(chunks_);
  PutBack(std::move(chunk));
  return {};
}

bool ChunkSearch::Wanted() const {
  if (chunks_.Int(kLastTime) < range_.earliest || chunks_.Int(kFirstTime) > range_.latest) return false;
  return IsAskedFor(chunks_, query_);
}

bool ChunkSearch::InRange(const Position& position) const {
  if (position.time < range_.earliest || position.time > range_.latest) return false;
  return !range_.after || Before(*range_.after, position);
}

bool ChunkSearch::Before(const Position& a, const Position& b) const {
  return range_.order == Order::kOldestFirst ? a < b : b < a;
}

/// No line of the cursor's row or of a later row comes before this time.
std::int64_t ChunkSearch::Edge() const {
  return chunks_.Int(range_.order == Order::kOldestFirst ? kFirstTime : kLastTime);
}

}  // namespace trainyard::logs
