#include "stores/logs/chunk_walk.h"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/logs/chunk_lines.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;

/// Index rows that one walk skips at most: some 20 ms.
constexpr std::int64_t kChunksPassedMax = 50'000;

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
  if (reader.Damaged() || number != place.end())
    return std::unexpected(DataLoss("the log holds a damaged chunk"));
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

}  // namespace trainyard::logs
