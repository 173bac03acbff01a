#pragma once

#include "base/result.h"

namespace trainyard::sqlite {

class Database;
struct DatabaseOptions;

/// Sets the connection's pragmas, checks that the file is of the wanted kind and version, and migrates it
/// (each step in a transaction of its own, so a crash leaves one version or the next). Errors as
/// Database::Open.
[[nodiscard]] Status PrepareSchema(Database& database, const DatabaseOptions& options);

}  // namespace trainyard::sqlite
