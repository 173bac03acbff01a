#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/chunk_lines.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {

enum class WalkDirection { kForward, kBackward };

/// A line with its number within the job.
struct NumberedLine {
  std::int64_t number = 0;
  RawLine raw;
};

/// A chunk with its lines. Valid until the next call of ChunkWalk::Next().
struct WalkedChunk {
  ChunkPlace place;
  const LineWriter* writer = nullptr;
  ChunkContents contents;

  /// Calls `visit` with the lines from `from` to before `end` (numbers within the job), until it returns
  /// false. kDataLoss: the chunk is damaged.
  Status ForEach(std::int64_t from, std::int64_t end,
                 const std::function<bool(const NumberedLine& line)>& visit) const;
  /// The same lines, the last one first.
  [[nodiscard]] Result<std::vector<NumberedLine>> Reversed(std::int64_t from, std::int64_t end) const;
  [[nodiscard]] std::int64_t TimeOf(const NumberedLine& line) const {
    return ShownTime(line.raw.stamp, contents.floor, line.number - place.first);
  }
};

/// Goes through the chunks of one job, forwards or backwards, and loads those whose lines can match a filter:
/// of the others only the index is read. Synchronous, one thread.
class ChunkWalk {
 public:
  /// Forwards: starts with the chunk that contains line `at`; backwards: with the one that contains the line
  /// before it. `chunks` and `filter` outlive the walk, which is the only one on `chunks`.
  ChunkWalk(JobChunks& chunks, std::int64_t job_uid, const LineFilter& filter, WalkDirection direction,
            std::int64_t at);

  /// The next chunk with possible matches; nothing at the end of the job's chunks, or when so many were
  /// skipped that the rest is left to another call: IsCut().
  [[nodiscard]] Result<const WalkedChunk*> Next();
  [[nodiscard]] bool IsCut() const noexcept { return is_cut_; }
  /// All lines before this one (backwards: from this one on) are in chunks that Next() has returned or
  /// skipped.
  [[nodiscard]] std::int64_t position() const noexcept { return position_; }

 private:
  [[nodiscard]] Result<bool> CanMatch(const ChunkPlace& place);

  JobChunks& chunks_;
  const LineFilter& filter_;
  const WalkDirection direction_;
  sqlite::Cursor cursor_;
  std::map<std::int64_t, LineWriter> writers_;  ///< by source
  WalkedChunk current_;
  std::int64_t position_;
  std::int64_t passed_ = 0;
  bool is_cut_ = false;
};

}  // namespace trainyard::logs
