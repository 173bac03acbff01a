#include "base/sqlite/schema_copies.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/file.h"
#include "base/number.h"
#include "base/sqlite/database.h"
#include "base/sqlite/snapshot.h"

namespace trainyard::sqlite {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "schema-copies";
constexpr const char* kSuffix = ".db";

fs::path FolderOf(const fs::path& store) { return store.parent_path() / kFolder; }

std::string NameOf(const fs::path& store, std::int64_t version) {
  return store.stem().string() + "-v" + std::to_string(version) + kSuffix;
}

/// The schema version in the name of a copy of this store; nullopt: it is not such a copy.
std::optional<std::int64_t> VersionOf(const fs::path& store, const std::string& name) {
  const std::string prefix = store.stem().string() + "-v";
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return std::nullopt;
  return WholeNumber<std::int64_t>(std::string_view(name).substr(
      prefix.size(), name.size() - prefix.size() - std::string_view(kSuffix).size()));
}

std::map<std::int64_t, fs::path> CopiesOf(const fs::path& store) {
  std::map<std::int64_t, fs::path> copies;
  for (const fs::path& entry : PathsIn(FolderOf(store))) {
    if (const auto version = VersionOf(store, entry.filename())) copies[*version] = entry;
  }
  return copies;
}

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

Status KeepSchemaCopy(Database& database, std::int64_t version) {
  const fs::path store = database.Path();
  const fs::path folder = FolderOf(store);
  TY_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  const fs::path copy = folder / NameOf(store, version);
  const std::string unfinished = copy.string() + ".unfinished";
  std::error_code error;
  fs::remove(unfinished, error);  // left by a start that was killed
  if (const Status copied = CopyDatabase(database, unfinished); !copied) {
    fs::remove(unfinished, error);
    return std::unexpected(Error{
        copied.error().code,
        "the copy of " + store.string() + " that an upgrade keeps cannot be made: " + copied.error().message,
        {}});
  }
  if (std::rename(unfinished.c_str(), copy.c_str()) != 0)
    return std::unexpected(ErrnoError(errno, "rename " + unfinished));
  TY_RETURN_IF_ERROR(SyncDirectory(folder));
  TY_RETURN_IF_ERROR(SyncDirectory(folder.parent_path()));
  std::map<std::int64_t, fs::path> copies = CopiesOf(store);
  for (; copies.size() > kSchemaCopiesKept; copies.erase(copies.begin()))
    fs::remove(copies.begin()->second, error);
  return {};
}

Error NewerSchema(const std::string& path, std::int64_t version, std::int64_t known) {
  std::string readable;
  for (const auto& [schema, copy] : CopiesOf(path)) {
    if (schema <= known) readable = copy.string();
  }
  const std::string otherwise = readable.empty() ? "restore a backup of before the upgrade"
                                                 : "put the copy of before the upgrade in its place (" +
                                                       readable + "), which lacks all that was stored since";
  return FailedPrecondition(path + " was written by a newer version of trainyard (schema " +
                            std::to_string(version) + ", this program knows " + std::to_string(known) +
                            "): start that version, or " + otherwise);
}

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
