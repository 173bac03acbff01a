#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace trainyard::sqlite {
class Database;
}  // namespace trainyard::sqlite

namespace trainyard::store {

/// Checks whether the jobs' database can be written now: by a transaction that changes nothing but is synced
/// as any other. Blocking, one thread; with a separate connection.
class WriteProbe {
 public:
  explicit WriteProbe(std::string path);
  WriteProbe(const WriteProbe&) = delete;
  WriteProbe& operator=(const WriteProbe&) = delete;
  ~WriteProbe();

  /// Errors as a create would get them: a full disk, a lock that is not released, a read-only file system.
  [[nodiscard]] Status Try();

 private:
  std::string path_;
  std::unique_ptr<sqlite::Database> database_;  ///< null: not opened yet
};

}  // namespace trainyard::store
