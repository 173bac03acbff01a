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

/// How a copy shares the disk with those who write meanwhile.
struct CopyPace {
  int pages = -1;                      ///< in one step; -1: all in one
  std::chrono::milliseconds pause{0};  ///< between two steps
};

/// Told after each step, in bytes of this database; false: give up.
using CopyProgress = std::function<bool(std::int64_t done, std::int64_t total)>;

/// Copies a database page by page (sqlite3_backup_*) to a file that is not there yet, durably. Where `source`
/// has a read transaction open, the copy is of that instant, whatever others write meanwhile. Blocks; the
/// connection's thread. kCancelled: `progress` said so; what was copied is left. Source:
/// sqlite.org/backup.html.
[[nodiscard]] Status CopyDatabase(Database& source, const std::string& target, const CopyPace& pace = {},
                                  const CopyProgress& progress = nullptr);

/// A database as it was at one instant, while others write on: a read transaction of a connection of its own.
/// The write-ahead log grows as long as it lives. Blocking; one thread.
class Snapshot {
 public:
  /// All at the same instant: everybody's writing is held (by SQLite's own lock, so writers wait at most
  /// kBusyWait), and goes on when it returns, some milliseconds later. kUnavailable: a writer does not end.
  [[nodiscard]] static Result<std::vector<Snapshot>> TakeTogether(std::span<const std::string> paths);

  /// Durable when it returns. Errors as CopyDatabase.
  [[nodiscard]] Status CopyTo(const std::string& target, const CopyPace& pace, const CopyProgress& progress) {
    return CopyDatabase(database_, target, pace, progress);
  }
  [[nodiscard]] Result<std::int64_t> SchemaVersion();
  /// Rows by table. Reads each table's smallest index.
  [[nodiscard]] Result<std::map<std::string, std::int64_t>> CountRows();
  /// Bytes that a copy has.
  [[nodiscard]] Result<std::int64_t> Bytes();

  [[nodiscard]] Database& database() noexcept { return database_; }

 private:
  explicit Snapshot(Database database) : database_(std::move(database)) {}
  Database database_;
};

}  // namespace trainyard::sqlite
