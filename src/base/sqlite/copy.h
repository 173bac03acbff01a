#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

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

}  // namespace trainyard::sqlite
