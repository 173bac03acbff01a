#pragma once

#include <string>

#include "base/result.h"

namespace trainyard::sqlite {

/// Looks at a database that somebody else may have made before a store opens it: it is whole (PRAGMA
/// quick_check), and its schema has tables and indexes only, since nothing of ours is a trigger, a view or a
/// virtual table, which would run as its rows are written. Blocking: it reads the whole file. kDataLoss,
/// kFailedPrecondition. Source: sqlite.org/security.html, "Untrusted SQLite Database Files".
[[nodiscard]] Status CheckForeign(const std::string& path);

}  // namespace trainyard::sqlite
