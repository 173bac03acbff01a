#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/chunk_lines.h"
#include "stores/logs/line_query.h"

namespace trainyard::logs {

/// A chunk of a job, without its lines: read from an index alone.
struct ChunkPlace {
  std::int64_t chunk = 0;
  std::int64_t first = 0;  ///< its first line's number within the job
  std::int64_t lines = 0;
  std::int64_t source = 0;
  std::int64_t first_time = 0;           ///< as shown, Unix time in ns
  std::optional<SeverityCounts> counts;  ///< absent: stored by a version that did not count
  [[nodiscard]] std::int64_t end() const noexcept { return first + lines; }
};

/// The replica and trial that wrote the lines of a source.
struct LineWriter {
  std::string replica;
  std::string trial_id;
  friend auto operator<=>(const LineWriter&, const LineWriter&) = default;
};

/// The contents of a chunk.
struct ChunkContents {
  std::int64_t floor = -1;  ///< for ShownTime
  std::string lines;        ///< a serialized LogLines
};

/// A connection that reads logs.db by line numbers while another one writes. One thread at a time. Errors:
/// those of the database.
class JobChunks {
 public:
  /// Opens the file, which a LogWriter has created.
  [[nodiscard]] static Result<std::unique_ptr<JobChunks>> Open(const std::string& path);
  ~JobChunks();

  /// The number of lines in the job's whole log; 0 if it has none.
  [[nodiscard]] Result<std::int64_t> Total(std::int64_t job_uid);
  /// The stored size of these lines in bytes.
  [[nodiscard]] Result<std::int64_t> Bytes(std::int64_t job_uid);
  /// All writers of lines, sorted, without duplicates.
  [[nodiscard]] Result<std::vector<LineWriter>> Writers(std::int64_t job_uid);
  /// The last chunk that begins at or before a time; absent: there is none.
  [[nodiscard]] Result<std::optional<ChunkPlace>> At(std::int64_t job_uid, std::int64_t time);

  /// The chunks in order from the one that contains line `from`, for PlaceOf. One walk at a time.
  [[nodiscard]] sqlite::Cursor Forward(std::int64_t job_uid, std::int64_t from);
  /// The chunks that begin before line `before`, last one first.
  [[nodiscard]] sqlite::Cursor Backward(std::int64_t job_uid, std::int64_t before);
  [[nodiscard]] static ChunkPlace PlaceOf(const sqlite::Cursor& row);

  /// kAborted: it has been erased in the meantime.
  [[nodiscard]] Result<LineWriter> Writer(std::int64_t source);
  [[nodiscard]] Result<ChunkContents> Load(std::int64_t chunk);

  /// For tests: how SQLite would run the walks.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans();

 private:
  struct Statements;
  JobChunks(sqlite::Database database, std::unique_ptr<Statements> statements);

  sqlite::Database database_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace trainyard::logs
