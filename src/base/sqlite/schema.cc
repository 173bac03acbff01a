#include "base/sqlite/database.h"

#include <string>

#include "base/sqlite/schema_copies.h"

namespace trainyard::sqlite {

namespace {

Result<std::int64_t> Pragma(Database& database, const std::string& name) {
  TY_TRY(Statement statement, database.Prepare("PRAGMA " + name));
  Cursor cursor = statement.Query();
  TY_RETURN_IF_ERROR(cursor.Next());
  return cursor.Int(0);
}

Status SetPragmas(Database& database, const DatabaseOptions& options) {
  // page_size only matters before the first page is written; WAL fixes it. SECURE_DELETE is on in Debian's
  // build and would write zeros over every freed page.
  std::string sql = "PRAGMA page_size=" + std::to_string(options.page_bytes) + ";";
  if (!options.read_only) sql += "PRAGMA journal_mode=WAL;";
  sql +=
      "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=OFF; PRAGMA temp_store=MEMORY;";
  sql += "PRAGMA cache_size=-" + std::to_string(options.cache_bytes / 1024) + ";";
  sql += "PRAGMA journal_size_limit=" + std::to_string(4 * options.checkpoint_bytes) + ";";
  sql += "PRAGMA wal_autocheckpoint=" + std::to_string(options.checkpoint_bytes / options.page_bytes);
  return database.Execute(sql);
}

Status CheckKind(Database& database, const DatabaseOptions& options, std::int64_t version) {
  TY_TRY(const std::int64_t application_id, Pragma(database, "application_id"));
  if (application_id == options.application_id) return {};
  TY_TRY(const std::int64_t pages, Pragma(database, "page_count"));
  TY_TRY(Statement tables, database.Prepare("SELECT count(*) FROM sqlite_schema"));
  Cursor cursor = tables.Query();
  TY_RETURN_IF_ERROR(cursor.Next());
  const bool fresh = application_id == 0 && version == 0 && (pages == 0 || cursor.Int(0) == 0);
  if (fresh && !options.read_only) return {};
  return std::unexpected(FailedPrecondition(options.path + " is a database of another kind (application id " +
                                            std::to_string(application_id) + ", expected " +
                                            std::to_string(options.application_id) +
                                            "); move it away or name another data directory"));
}

}  // namespace

Status PrepareSchema(Database& database, const DatabaseOptions& options) {
  const std::int64_t wanted = static_cast<std::int64_t>(options.migrations.size());
  // Checked before anything is written: a file of another program is left unchanged.
  TY_TRY(std::int64_t version, Pragma(database, "user_version"));
  TY_RETURN_IF_ERROR(CheckKind(database, options, version));
  if (version > wanted) return std::unexpected(NewerSchema(options.path, version, wanted));
  TY_RETURN_IF_ERROR(SetPragmas(database, options));
  if (version < wanted && options.read_only) {
    return std::unexpected(
        FailedPrecondition(options.path + " has an old schema and was opened for reading only"));
  }
  if (version > 0 && version < wanted) TY_RETURN_IF_ERROR(KeepSchemaCopy(database, version));
  for (; version < wanted; ++version) {
    TY_TRY(Transaction transaction, Transaction::Begin(database));
    TY_RETURN_IF_ERROR(database.Execute(std::string(options.migrations[static_cast<std::size_t>(version)])));
    TY_RETURN_IF_ERROR(database.Execute("PRAGMA user_version=" + std::to_string(version + 1) +
                                        "; PRAGMA application_id=" + std::to_string(options.application_id)));
    TY_RETURN_IF_ERROR(transaction.Commit());
  }
  return {};
}

}  // namespace trainyard::sqlite
