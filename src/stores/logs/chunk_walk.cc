#include "stores/logs/chunk_walk.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "base/wire/time.h"
#include "stores/logs/chunk_lines.h"
#include "stores/logs/line_view.h"
#include "stores/logs/log_store.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

/// Chunks that a search passes over before it ends.
constexpr std::int64_t kChunksPassedOverMax = 10'000;
/// Index rows that one walk skips at most: some 20 ms.
constexpr std::int64_t kChunksPassedMax = 50'000;

Error Damaged() { return {Code::kDataLoss, "the log holds a damaged chunk", {}}; }

bool IsOf(const LineWriter& writer, const LineFilter& filter) {
  return (filter.replica.empty() || filter.replica == writer.replica) &&
         (filter.trial_id.empty() || filter.trial_id == writer.trial_id);
}

bool HasSeverity(const ChunkPlace& place, LogEntry::Severity least) {
  if (!place.counts || least < LogEntry::WARNING) return true;
  return place.counts->errors > 0 || (least == LogEntry::WARNING && place.counts->warnings > 0);
}

}  // namespace

Status WalkedChunk::ForEach(std::int64_t from, std::int64_t end,
                            const std::function<bool(const NumberedLine& line)>& visit) const {
  LineReader reader(contents.lines);
  std::int64_t number = place.first;
  for (std::optional<RawLine> raw = reader.Next(); raw; raw = reader.Next(), ++number) {
    if (number < from) continue;
    if (number >= end || !visit({.number = number, .raw = *raw})) return {};
  }
  if (reader.Damaged() || number != place.end()) return std::unexpected(Damaged());
  return {};
}

Result<std::vector<NumberedLine>> WalkedChunk::Reversed(std::int64_t from, std::int64_t end) const {
  std::vector<NumberedLine> lines;
  TY_RETURN_IF_ERROR(ForEach(from, end, [&lines](const NumberedLine& line) {
    lines.push_back(line);
    return true;
  }));
  std::ranges::reverse(lines);
  return lines;
}

ChunkWalk::ChunkWalk(JobChunks& chunks, std::int64_t job_uid, const LineFilter& filter,
                     WalkDirection direction, std::int64_t at)
    : chunks_(chunks),
      filter_(filter),
      direction_(direction),
      cursor_(direction == WalkDirection::kForward ? chunks.Forward(job_uid, at)
                                                   : chunks.Backward(job_uid, at)),
      position_(at) {}

Result<bool> ChunkWalk::CanMatch(const ChunkPlace& place) {
  auto writer = writers_.find(place.source);
  if (writer == writers_.end()) {
    TY_TRY(LineWriter found, chunks_.Writer(place.source));
    writer = writers_.emplace(place.source, std::move(found)).first;
  }
  current_.writer = &writer->second;
  return IsOf(writer->second, filter_) && HasSeverity(place, filter_.severity_min);
}

Result<const WalkedChunk*> ChunkWalk::Next() {
  for (;;) {
    TY_TRY(const bool found, cursor_.Next());
    if (!found) return nullptr;
    if (passed_ == kChunksPassedMax) {
      is_cut_ = true;
      return nullptr;
    }
    current_.place = JobChunks::PlaceOf(cursor_);
    position_ = direction_ == WalkDirection::kForward ? current_.place.end() : current_.place.first;
    TY_TRY(const bool can_match, CanMatch(current_.place));
    if (can_match) break;
    ++passed_;
  }
  TY_TRY(current_.contents, chunks_.Load(current_.place.chunk));
  return &current_;
}

using namespace chunk_column;

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

using namespace chunk_column;

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
