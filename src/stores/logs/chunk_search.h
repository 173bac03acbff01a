#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/log_query.h"

namespace trainyard::logs {

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
