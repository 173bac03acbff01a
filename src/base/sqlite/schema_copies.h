#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/sqlite/database.h"

/// Copies of a store from before a newer program changed its schema: DATA/schema-copies/NAME-vN.db, if
/// DATA/NAME.db had schema N. Blocking. docs/adr/0044-operating.md.
namespace trainyard::sqlite {

/// The number of copies per store: those of the latest schemas.
inline constexpr std::size_t kSchemaCopiesKept = 2;

/// Copies the store, durable when it returns, and removes copies beyond kSchemaCopiesKept. A copy of the same
/// schema is replaced: it is from an upgrade that was reverted. kResourceExhausted: the disk is full.
[[nodiscard]] Status KeepSchemaCopy(Database& database, std::int64_t version);

/// The error for a store that a newer program wrote. Names both versions, the program to start, and the
/// newest copy that this program can read, if there is one.
[[nodiscard]] Error NewerSchema(const std::string& path, std::int64_t version, std::int64_t known);

}  // namespace trainyard::sqlite
