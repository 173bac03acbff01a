#include "stores/logs/chunk_walk.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/wire/time.h"
#include "stores/logs/entry.h"
#include "stores/logs/log_store.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

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

}  // namespace trainyard::logs
