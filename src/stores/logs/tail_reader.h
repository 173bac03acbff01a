#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/log_query.h"
#include "stores/store/page_token.h"

namespace trainyard::logs {

/// A tail's progress: after this many lines of a chunk. Chunks are numbered as they arrive and never change,
/// so nothing that arrives later comes before it. {} is before everything.
struct TailPosition {
  std::int64_t chunk = 0;
  std::int64_t first_time = 0;  ///< of the chunk, as shown, Unix time in ns
  std::int64_t lines = 0;
  friend bool operator==(const TailPosition&, const TailPosition&) = default;
  /// Whether everything before it comes before `other`, too.
  [[nodiscard]] bool IsBefore(const TailPosition& other) const noexcept {
    return chunk < other.chunk || (chunk == other.chunk && lines < other.lines);
  }
};

/// The jobs whose lines a query can match.
struct TailJob {
  enum class Kind { kAny, kOne, kNotYet } kind = Kind::kAny;  ///< kNotYet: a job that has no lines yet
  std::int64_t uid = 0;                                       ///< kOne
  friend bool operator==(const TailJob&, const TailJob&) = default;
};

struct TailPage {
  std::vector<logging::v2::LogEntry> entries;  ///< by timestamp
  TailPosition position;                       ///< continue from here
  bool caught_up = false;                      ///< nothing more is stored
  TailJob job;
};

inline constexpr std::size_t kTailEntriesMax = 500;

/// Reads logs.db in order of arrival, for live tails: within a job that is the order of timestamps. One
/// thread at a time.
class TailReader {
 public:
  /// Opens the file, which a LogWriter has created.
  [[nodiscard]] static Result<std::unique_ptr<TailReader>> Open(const std::string& path);
  ~TailReader();

  /// The position at which a tail begins: with a cursor, the cursor's; otherwise before the first stored line
  /// that the filter's lower bound of the timestamp allows, or without such a bound after everything stored.
  /// kInvalidArgument with field "cursor": not one that Seal() returned for this query.
  [[nodiscard]] Result<TailPosition> Start(const LogQuery& query, std::string_view cursor);
  [[nodiscard]] std::string Seal(const LogQuery& query, const TailPosition& position) const;

  /// The next entries, but none after `until`. The search is bounded: a page may be short, even empty,
  /// without having caught up.
  [[nodiscard]] Result<TailPage> Read(const LogQuery& query, TailPosition from,
                                      std::optional<TailPosition> until = std::nullopt);

  /// For tests: how SQLite would run the searches.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans();

 private:
  struct Statements;

  TailReader(sqlite::Database database, store::PageTokenKey key, std::unique_ptr<Statements> statements);
  Result<TailJob> FindJob(const LogQuery& query);
  Result<TailPosition> End(const TailJob& job);

  sqlite::Database database_;
  store::PageTokenKey cursor_key_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace trainyard::logs
