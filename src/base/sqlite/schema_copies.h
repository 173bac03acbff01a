#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/sqlite/database.h"

/// What is kept of a store before a newer program changes its schema: DATA/schema-copies/NAME-vN.db, where
/// DATA/NAME.db had schema N. Blocking. docs/adr/0044-operating.md.
namespace trainyard::sqlite {

/// Of each store: those of the latest schemas.
inline constexpr std::size_t kSchemaCopiesKept = 2;

/// Copies the store, durable when it returns, and removes copies beyond kSchemaCopiesKept. One of the same
/// schema is replaced: it is of an upgrade that was taken back. kResourceExhausted: the disk is full.
[[nodiscard]] Status KeepSchemaCopy(Database& database, std::int64_t version);

/// The refusal of a store that a newer program wrote: both versions, what to start, and the newest copy that
/// this program can read, if there is one.
[[nodiscard]] Error NewerSchema(const std::string& path, std::int64_t version, std::int64_t known);

}  // namespace trainyard::sqlite
