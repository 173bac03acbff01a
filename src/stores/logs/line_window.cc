#include "stores/logs/log_lines.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "stores/logs/chunk_walk.h"
#include "stores/logs/line_view.h"

namespace trainyard::logs {

namespace {

using control::v1::LogLineShown;
using control::v1::LogWindow;

/// Fills one window, until it is full.
class WindowFiller {
 public:
  explicit WindowFiller(const WindowQuery& query) : query_(query) {}

  /// False: the line matches, but belongs in another window.
  bool Take(const WalkedChunk& chunk, const NumberedLine& line) {
    if (SeverityOf(line.raw) < query_.filter.severity_min) return true;
    const bool is_full = lines_.size() == static_cast<std::size_t>(query_.count) ||
                         (!lines_.empty() && bytes_ + line.raw.bytes.size() > kWindowBytesMax);
    if (is_full) return false;
    LogLineShown shown = ShowLine(chunk, line, query_.whole);
    bytes_ += shown.ByteSizeLong();
    lines_.push_back(std::move(shown));
    return true;
  }

  std::vector<LogLineShown> TakeLines() && { return std::move(lines_); }

 private:
  const WindowQuery& query_;
  std::vector<LogLineShown> lines_;
  std::size_t bytes_ = 0;
};

/// The number of the first line at or after a time.
Result<std::int64_t> NumberAt(JobChunks& chunks, std::int64_t job_uid, SysTime time) {
  const std::int64_t wanted = time.time_since_epoch().count();
  TY_TRY(const std::optional<ChunkPlace> place, chunks.At(job_uid, wanted));
  if (!place) return 0;
  TY_TRY(ChunkContents contents, chunks.Load(place->chunk));
  const WalkedChunk chunk{.place = *place, .contents = std::move(contents)};
  std::int64_t number = place->end();
  TY_RETURN_IF_ERROR(chunk.ForEach(place->first, place->end(), [&](const NumberedLine& line) {
    if (chunk.TimeOf(line) < wanted) return true;
    number = line.number;
    return false;
  }));
  return number;
}

/// The place where the walk ended, and the lines so far.
struct Walked {
  std::vector<LogLineShown> lines;
  std::int64_t position = 0;
};

Result<Walked> WalkForward(JobChunks& chunks, const WindowQuery& query, std::int64_t first,
                           std::int64_t total) {
  WindowFiller filler(query);
  ChunkWalk walk(chunks, query.job_uid, query.filter, WalkDirection::kForward, first);
  std::int64_t seen = 0;
  std::int64_t position = total;
  for (;;) {
    TY_TRY(const WalkedChunk* chunk, walk.Next());
    if (chunk == nullptr || chunk->place.first >= total) break;
    std::optional<std::int64_t> left;
    TY_RETURN_IF_ERROR(chunk->ForEach(first, total, [&](const NumberedLine& line) {
      if (!filler.Take(*chunk, line)) left = line.number;
      return !left;
    }));
    if (left) return Walked{.lines = std::move(filler).TakeLines(), .position = *left};
    seen += static_cast<std::int64_t>(chunk->contents.lines.size());
    if (seen >= kWindowBytesSeenMax) {
      position = std::min(walk.position(), total);
      break;
    }
  }
  if (walk.IsCut()) position = std::min(walk.position(), total);
  return Walked{.lines = std::move(filler).TakeLines(), .position = position};
}

Result<Walked> WalkBackward(JobChunks& chunks, const WindowQuery& query, std::int64_t before) {
  WindowFiller filler(query);
  ChunkWalk walk(chunks, query.job_uid, query.filter, WalkDirection::kBackward, before);
  std::int64_t seen = 0;
  std::int64_t position = 0;
  const auto finish = [&filler](std::int64_t at) {
    std::vector<LogLineShown> lines = std::move(filler).TakeLines();
    std::ranges::reverse(lines);
    return Walked{.lines = std::move(lines), .position = at};
  };
  for (;;) {
    TY_TRY(const WalkedChunk* chunk, walk.Next());
    if (chunk == nullptr) break;
    TY_TRY(const std::vector<NumberedLine> lines, chunk->Reversed(chunk->place.first, before));
    for (const NumberedLine& line : lines)
      if (!filler.Take(*chunk, line)) return finish(line.number + 1);
    seen += static_cast<std::int64_t>(chunk->contents.lines.size());
    if (seen >= kWindowBytesSeenMax) {
      position = walk.position();
      break;
    }
  }
  if (walk.IsCut()) position = walk.position();
  return finish(position);
}

/// The lines from `first` on, or with `backward` those before it.
struct Start {
  std::int64_t line = 0;
  bool backward = false;
};

Result<Start> StartOf(JobChunks& chunks, const WindowQuery& query, std::int64_t total) {
  return std::visit(
      Overloaded{[](const FromLine& from) -> Result<Start> { return Start{.line = from.number}; },
                 [&](const FromTime& from) -> Result<Start> {
                   TY_TRY(const std::int64_t line, NumberAt(chunks, query.job_uid, from.time));
                   return Start{.line = line};
                 },
                 [](const BeforeLine& before) -> Result<Start> {
                   return Start{.line = before.number, .backward = true};
                 },
                 [total](const AtEnd&) -> Result<Start> { return Start{.line = total, .backward = true}; }},
      query.place);
}

std::int64_t OrNothing(std::int64_t line, bool is_there) { return is_there ? line : -1; }

}  // namespace

Result<LogWindow> ReadWindow(JobChunks& chunks, const WindowQuery& query) {
  TY_TRY(const std::int64_t total, chunks.Total(query.job_uid));
  TY_TRY(const Start start, StartOf(chunks, query, total));
  const std::int64_t at = std::min(start.line, total);
  Walked walked{.position = at};
  if (start.backward) {
    TY_TRY(walked, WalkBackward(chunks, query, at));
  } else if (at < total) {
    TY_TRY(walked, WalkForward(chunks, query, at, total));
  }
  const std::int64_t first = start.backward ? walked.position : at;
  const std::int64_t end = start.backward ? at : walked.position;
  LogWindow window;
  window.set_total(total);
  window.mutable_lines()->Reserve(static_cast<int>(walked.lines.size()));
  for (LogLineShown& line : walked.lines) *window.add_lines() = std::move(line);
  window.set_next(OrNothing(end, end < total));
  window.set_previous(OrNothing(first, first > 0));
  return window;
}

}  // namespace trainyard::logs
