#pragma once

#include <string>

#include "base/result.h"

namespace trainyard::sqlite {

/// Checks a database from an untrusted source before a store opens it: it must not be damaged (PRAGMA
/// quick_check), and its schema must have only tables and indexes. Our schemas have no triggers, views or
/// virtual tables, and these would run code when rows are written. Blocking: it reads the whole file.
/// kDataLoss, kFailedPrecondition. Source: sqlite.org/security.html, "Untrusted SQLite Database Files".
[[nodiscard]] Status CheckForeign(const std::string& path);

}  // namespace trainyard::sqlite
