#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_store.h"
#include "stores/store/page_token.h"

namespace trainyard::logs {

struct SearchRange;

/// What the removal of old logs needs to know of a job's log.
struct OldLog {
  std::int64_t job_uid = 0;
  SysTime last_line;  ///< as it is shown
  std::int64_t bytes = 0;
  friend bool operator==(const OldLog&, const OldLog&) = default;
};

/// A connection that reads logs.db while another one writes. One thread at a time.
class LogReader {
 public:
  /// Opens the file, which a LogWriter has created.
  [[nodiscard]] static Result<std::unique_ptr<LogReader>> Open(const std::string& path);
  ~LogReader();

  /// How many lines of the source are stored.
  [[nodiscard]] Result<std::int64_t> NextLine(std::int64_t job_uid, std::string_view source);

  /// How many lines of the job are stored.
  [[nodiscard]] Result<std::int64_t> Length(std::int64_t job_uid);

  /// One page in order of (timestamp, insertId); a job's range is found through an index. A search is cut
  /// short after kLinesSearchedMax lines or kPageBytesMax bytes: then the page is short, perhaps empty, and
  /// has a token. kInvalidArgument with field "page_token".
  [[nodiscard]] Result<LogPage> Read(const LogQuery& query);

  /// Bytes of all lines, by project: scans one small row per job.
  [[nodiscard]] Result<std::map<std::string, std::int64_t>> ProjectBytes();

  /// As LogStore::Older.
  [[nodiscard]] Result<std::vector<OldLog>> Older(SysTime before, std::int64_t after_uid, int count);

  /// For tests: how SQLite would run the four searches.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans();

 private:
  struct Statements;

  LogReader(sqlite::Database database, store::PageTokenKey key, std::unique_ptr<Statements> statements);
  Result<std::vector<std::int64_t>> FindJobs(const LogQuery& query);
  Result<LogPage> Collect(sqlite::Cursor chunks, const SearchRange& range, const LogQuery& query);

  sqlite::Database database_;
  store::PageTokenKey page_token_key_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace trainyard::logs
