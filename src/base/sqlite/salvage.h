#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

/// Damaged databases. Blocking; nobody else has them open.
namespace trainyard::sqlite {

/// kDataLoss: something of the file cannot be read, with SQLite's first complaint. Reads all of it.
[[nodiscard]] Status CheckWhole(const std::string& path);

/// The same, but reads no more than the schema and the ends of each table, unless somebody has noted damage.
/// A file that is not there is no error.
[[nodiscard]] Status CheckReadable(const std::string& path);
/// Leaves a note beside the database: something of it could not be read or written. CheckReadable and
/// SetAside take it away.
[[nodiscard]] Status NoteDamage(const std::string& path);

struct Salvaged {
  std::int64_t rows = 0;
  std::vector<std::string> incomplete{};  ///< tables of which something could not be read
};
/// Copies what can be read of a damaged database (and its write-ahead log) to a new file, row by row,
/// durably. The damaged one is left as it is. kDataLoss: not even its schema can be read.
[[nodiscard]] Result<Salvaged> Salvage(const std::string& damaged, const std::string& target);

/// Gives the database and what belongs to it another name, "NAME.damaged-SECONDS". @return its path.
[[nodiscard]] Result<std::string> SetAside(const std::string& path);

}  // namespace trainyard::sqlite
