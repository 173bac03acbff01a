#include "base/sqlite/snapshot.h"

#include <utility>

namespace trainyard::sqlite {

namespace {

Result<std::int64_t> ReadInt(Database& database, const std::string& sql) {
  TY_TRY(Statement statement, database.Prepare(sql));
  Cursor cursor = statement.Query();
  TY_RETURN_IF_ERROR(cursor.Next());
  return cursor.Int(0);
}

}  // namespace

Result<std::vector<Snapshot>> Snapshot::TakeTogether(std::span<const std::string> paths) {
  // No store's writer has two databases' locks, so taking all of them cannot deadlock.
  std::vector<Database> holders;
  std::vector<Transaction> held;
  holders.reserve(paths.size());  // transactions point at them
  for (const std::string& path : paths) {
    TY_TRY(Database holder, Database::OpenAsItIs(path));
    holders.push_back(std::move(holder));
    TY_TRY(Transaction transaction, Transaction::Begin(holders.back()));
    held.push_back(std::move(transaction));
  }
  std::vector<Snapshot> snapshots;
  for (const std::string& path : paths) {
    TY_TRY(Database reader, Database::OpenAsItIs(path));
    TY_RETURN_IF_ERROR(reader.Execute("BEGIN"));
    TY_RETURN_IF_ERROR(ReadInt(reader, "SELECT count(*) FROM sqlite_schema"));  // the transaction begins here
    snapshots.push_back(Snapshot(std::move(reader)));
  }
  return snapshots;
}

Result<std::int64_t> Snapshot::SchemaVersion() { return ReadInt(database_, "PRAGMA user_version"); }

Result<std::int64_t> Snapshot::Bytes() {
  TY_TRY(const std::int64_t pages, ReadInt(database_, "PRAGMA page_count"));
  TY_TRY(const std::int64_t bytes, ReadInt(database_, "PRAGMA page_size"));
  return pages * bytes;
}

Result<std::map<std::string, std::int64_t>> Snapshot::CountRows() {
  std::map<std::string, std::int64_t> counts;
  TY_TRY(
      Statement tables,
      database_.Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"));
  Cursor table = tables.Query();
  for (;;) {
    TY_TRY(const bool found, table.Next());
    if (!found) return counts;
    const std::string name(table.Text(0));
    TY_TRY(counts[name], ReadInt(database_, "SELECT count(*) FROM \"" + name + "\""));
  }
}

}  // namespace trainyard::sqlite
