#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite/copy.h"
#include "base/sqlite/database.h"

namespace trainyard::sqlite {

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
