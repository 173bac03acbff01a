#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/chunk_lines.h"
#include "stores/logs/job_chunks.h"
#include "stores/logs/line_query.h"
#include "stores/logs/log_query.h"

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

/// "SELECT ... FROM ...", to be followed by WHERE and ORDER BY on `c`, the chunks.
extern const std::string_view kSelectChunks;

/// The columns of kSelectChunks.
namespace chunk_column {
enum : int {
  kJobUid,
  kJobLine,
  kLineCount,
  kFloor,
  kFirstTime,
  kLastTime,
  kReceiveTime,
  kProject,
  kTaskName,
  kJobId,
  kTrialId,
  kHostName,
  kChunk,
  kLines,  // last: touching it reads the chunk's overflow pages
};
}  // namespace chunk_column

/// The fields that all lines of the row's chunk have in common.
[[nodiscard]] logging::v2::LogEntry CommonPart(const sqlite::Cursor& row);

/// Whether the chunk belongs to a project and a task that the query asks for.
[[nodiscard]] bool IsAskedFor(const sqlite::Cursor& row, const LogQuery& query);

/// A line's position in the order of all lines of all jobs.
struct Position {
  std::int64_t time = 0;  ///< as shown, Unix time in ns
  std::int64_t job_line = 0;
  std::int64_t job_uid = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// The limits of a search besides the filter.
struct SearchRange {
  Order order = Order::kOldestFirst;
  std::int64_t earliest = 0;      ///< timestamp >= earliest, Unix time in ns
  std::int64_t latest = 0;        ///< timestamp <= latest
  std::optional<Position> after;  ///< only lines after it in this order
};

/// One line that a search found. The pointers are valid until the next call of Next().
struct FoundLine {
  Position position;
  const logging::v2::LogEntry* common = nullptr;  ///< what the lines of its chunk have in common
  std::string_view bytes;                         ///< a serialized LogLine
};

/// Merges the lines of chunks into one sequence ordered by Position. Keeps only chunks that overlap the
/// current time in memory. Synchronous, one thread.
class ChunkSearch {
 public:
  /// `chunks` runs kSelectChunks, ordered by first_time, or by last_time descending for newest first. Skips
  /// chunks of other projects or tasks than the query's. The query outlives the search.
  ChunkSearch(sqlite::Cursor chunks, const SearchRange& range, const LogQuery& query);
  ~ChunkSearch();
  ChunkSearch(const ChunkSearch&) = delete;
  ChunkSearch& operator=(const ChunkSearch&) = delete;

  /// The next line in range; nothing at the end or when the search was cut short. kDataLoss: a damaged chunk.
  [[nodiscard]] Result<std::optional<FoundLine>> Next();

  /// Set when Next() ended because it had skipped too many chunks: continue after this position.
  [[nodiscard]] const std::optional<Position>& cut_short() const noexcept { return cut_short_; }

 private:
  struct Chunk;

  Status Advance();
  Status TakeRow();
  Status OpenChunk();
  FoundLine TakeFront();
  void PutBack(std::unique_ptr<Chunk> chunk);
  [[nodiscard]] bool Wanted() const;
  [[nodiscard]] bool InRange(const Position& position) const;
  [[nodiscard]] bool Before(const Position& a, const Position& b) const;
  [[nodiscard]] std::int64_t Edge() const;

  sqlite::Cursor chunks_;
  const SearchRange range_;
  const LogQuery& query_;
  bool started_ = false;
  bool at_row_ = false;
  std::int64_t passed_over_ = 0;
  std::optional<Position> cut_short_;
  std::unique_ptr<Chunk> current_;            ///< the one whose line was returned last
  std::vector<std::unique_ptr<Chunk>> open_;  ///< a heap by next line, the first one at the front
};

}  // namespace trainyard::logs
