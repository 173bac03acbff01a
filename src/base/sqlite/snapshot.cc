#include "base/sqlite/snapshot.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/sqlite/rows.h"

namespace trainyard::sqlite {

/// Steps of a copy, which needs both connections.
class Copying {
 public:
  static Status Run(Database& source, Database& target, const CopyPace& pace, const CopyProgress& progress) {
    sqlite3* to = target.connection_.get();
    sqlite3_backup* backup = sqlite3_backup_init(to, "main", source.connection_.get(), "main");
    if (backup == nullptr) return std::unexpected(SqliteError(to, sqlite3_extended_errcode(to)));
    const Status stepped = StepAll(*backup, PageBytes(source), pace, progress);
    const int finished = sqlite3_backup_finish(backup);
    if (!stepped) return stepped;
    if (finished != SQLITE_OK) return std::unexpected(SqliteError(to, finished));
    return {};
  }

  static Result<Database> Create(const std::string& path) {
    TY_TRY(Database target, Database::Connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    // No reader sees the file before it is complete, and it is synced once, at its end.
    TY_RETURN_IF_ERROR(target.Execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"));
    return target;
  }

 private:
  static std::int64_t PageBytes(Database& source) {
    Result<Statement> size = source.Prepare("PRAGMA page_size");
    if (!size) return 1;
    Cursor cursor = size->Query();
    return cursor.Next().value_or(false) ? cursor.Int(0) : 1;
  }

  /// An error of finish is more precise than one of a step.
  static Status StepAll(sqlite3_backup& backup, std::int64_t page_bytes, const CopyPace& pace,
                        const CopyProgress& progress) {
    for (;;) {
      const int code = sqlite3_backup_step(&backup, pace.pages);
      const std::int64_t total = sqlite3_backup_pagecount(&backup);
      const std::int64_t done = total - sqlite3_backup_remaining(&backup);
      if (progress && !progress(done * page_bytes, total * page_bytes))
        return std::unexpected(Error{Code::kCancelled, "the copy was given up", {}});
      if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED) return {};
      std::this_thread::sleep_for(pace.pause);
    }
  }
};

Status CopyDatabase(Database& source, const std::string& target, const CopyPace& pace,
                    const CopyProgress& progress) {
  {
    TY_TRY(Database copy, Copying::Create(target));
    TY_RETURN_IF_ERROR(Copying::Run(source, copy, pace, progress));
  }
  TY_TRY(const UniqueFd file, OpenFile(target, O_RDONLY));
  if (::fsync(file.get()) != 0) return std::unexpected(ErrnoError(errno, "sync " + target));
  return {};
}

Result<std::vector<Snapshot>> Snapshot::TakeTogether(std::span<const std::string> paths) {
  // No writer of a store locks two databases, so locking all of them cannot deadlock.
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
