#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

/// Damaged databases. Blocking; no other process or thread may have them open.
namespace trainyard::sqlite {

/// Reads the whole file. kDataLoss: a part of it cannot be read; the message has SQLite's first complaint.
[[nodiscard]] Status CheckWhole(const std::string& path);

/// Like CheckWhole, but reads only the schema and both ends of each table, unless NoteDamage was called for
/// the file. A missing file is not an error.
[[nodiscard]] Status CheckReadable(const std::string& path);
/// Creates a note file next to the database: a part of it could not be read or written. CheckReadable and
/// SetAside remove the note.
[[nodiscard]] Status NoteDamage(const std::string& path);

struct SalvageResult {
  std::int64_t rows = 0;
  std::vector<std::string> incomplete{};  ///< tables that could not be read completely
};
/// Copies the readable rows of a damaged database (and its write-ahead log) to a new file, row by row,
/// durably. The damaged one is not changed. kDataLoss: not even its schema can be read.
[[nodiscard]] Result<SalvageResult> Salvage(const std::string& damaged, const std::string& target);

/// Renames the database and its companion files to "NAME.damaged-SECONDS". @return the new path.
[[nodiscard]] Result<std::string> SetAside(const std::string& path);

/// Checks a database from an untrusted source before a store opens it: it must not be damaged (PRAGMA
/// quick_check), and its schema must have only tables and indexes. Our schemas have no triggers, views or
/// virtual tables, and these would run code when rows are written. Blocking: it reads the whole file.
/// kDataLoss, kFailedPrecondition. Source: sqlite.org/security.html, "Untrusted SQLite Database Files".
[[nodiscard]] Status CheckForeign(const std::string& path);

}  // namespace trainyard::sqlite
