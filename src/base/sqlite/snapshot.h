#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/database.h"

namespace trainyard::sqlite {

/// The speed of a copy, to share the disk with writers.
struct CopyPace {
  int pages = -1;                      ///< per step; -1: all in one step
  std::chrono::milliseconds pause{0};  ///< between two steps
};

/// Called after each step, with bytes of this database; return false to cancel.
using CopyProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Copies a database page by page (sqlite3_backup_*) to a file that must not exist yet, durably. If `source`
/// has a read transaction open, the copy shows the database as that transaction sees it, even if others write
/// meanwhile. Blocks; the connection's thread. kCancelled: `progress` returned false; the partial copy is not
/// removed. Source: sqlite.org/backup.html.
[[nodiscard]] Status CopyDatabase(Database& source, const std::string& target, const CopyPace& pace = {},
                                  const CopyProgress& progress = nullptr);

/// A database as it was at one instant, while others may write: a read transaction on a separate connection.
/// The write-ahead log grows as long as it lives. Blocking; one thread.
class Snapshot {
 public:
  /// Takes snapshots of several databases at the same instant: all writers are blocked (by SQLite's own lock,
  /// so they wait at most kBusyWait) until it returns, some milliseconds later. kUnavailable: a writer does
  /// not finish.
  [[nodiscard]] static Result<std::vector<Snapshot>> TakeTogether(std::span<const std::string> paths);

  /// Durable when it returns. Errors as CopyDatabase.
  [[nodiscard]] Status CopyTo(const std::string& target, const CopyPace& pace, const CopyProgress& progress) {
    return CopyDatabase(database_, target, pace, progress);
  }
  [[nodiscard]] Result<std::int64_t> SchemaVersion();
  /// The number of rows by table. Reads each table's smallest index.
  [[nodiscard]] Result<std::map<std::string, std::int64_t>> CountRows();
  /// The size of a copy in bytes.
  [[nodiscard]] Result<std::int64_t> Bytes();

  [[nodiscard]] Database& database() noexcept { return database_; }

 private:
  explicit Snapshot(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace trainyard::sqlite
