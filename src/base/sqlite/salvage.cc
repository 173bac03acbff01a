#include "base/sqlite/salvage.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <queue>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/sqlite/database.h"
#include "base/sqlite/rows.h"

namespace trainyard::sqlite {

namespace {

namespace fs = std::filesystem;

/// The number of row ids that are tried if a table's last row cannot be found.
constexpr std::int64_t kRowsMax = std::int64_t{1} << 24;
/// The number of reads of one table that may end at damage: each row id of a damaged page is one. Where the
/// last row cannot be found, that page may have all of them.
constexpr int kDamagedReadsMax = 1 << 15;
constexpr const char* kLogSuffix = "-wal";
constexpr const char* kMemorySuffix = "-shm";
constexpr const char* kNoteSuffix = ".is-damaged";

std::string Quoted(const std::string& name, char quote) {
  std::string quoted(1, quote);
  for (const char c : name) quoted += std::string(c == quote ? 2 : 1, c);
  return quoted + quote;
}

struct SchemaEntry {
  std::string name;
  std::string sql;
};

Result<std::vector<SchemaEntry>> SchemaOf(Database& database, const std::string& type) {
  TY_TRY(Statement statement,
         database.Prepare("SELECT name, sql FROM sqlite_schema WHERE type = ?1 AND sql IS "
                          "NOT NULL AND name NOT LIKE 'sqlite_%'"));
  std::vector<SchemaEntry> entries;
  Cursor row = statement.Query(type);
  for (;;) {
    TY_TRY(const bool found, row.Next());
    if (!found) return entries;
    entries.push_back({std::string(row.Text(0)), std::string(row.Text(1))});
  }
}

/// Copies the rows of one table; bisects around damage. Uses two connections: after a damaged page, a
/// connection that writes in the same statement treats its own pages as damaged, too.
class TableCopy {
 public:
  TableCopy(Statement read, Statement insert) : read_(std::move(read)), insert_(std::move(insert)) {}

  Status Copy(std::int64_t first, std::int64_t last) {
    // The widest part is next, so that what lies between two damaged places is found before the limit is
    // reached.
    const auto is_narrower = [](const Part& a, const Part& b) { return a.last - a.next < b.last - b.next; };
    std::priority_queue<Part, std::vector<Part>, decltype(is_narrower)> parts(is_narrower);
    parts.push({first, last});
    for (int damaged = 0; !parts.empty() && damaged < kDamagedReadsMax;) {
      Part part = parts.top();
      parts.pop();
      const Status copied = CopyUntilDamage(part.next, part.last);
      if (copied) continue;
      if (copied.error().code != Code::kDataLoss) return copied;
      is_whole_ = false;
      ++damaged;
      if (part.next >= part.last) continue;
      const std::int64_t middle = part.next + (part.last - part.next) / 2;
      parts.push({part.next, middle});
      parts.push({middle + 1, part.last});
    }
    return {};
  }
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

 private:
  /// Numbers of rows, both inclusive.
  struct Part {
    std::int64_t next;
    std::int64_t last;
  };
  /// `next` becomes the number after the last one that was copied.
  Status CopyUntilDamage(std::int64_t& next, std::int64_t last) {
    Cursor row = read_.Query(next, last);
    for (;;) {
      TY_TRY(const bool found, row.Next());
      if (!found) return {};
      TY_RETURN_IF_ERROR(insert_.RunWith(row, 1));  // behind the number
      next = row.Int(0) + 1;
      ++rows_;
    }
  }

  Statement read_;
  Statement insert_;
  std::int64_t rows_ = 0;
  bool is_whole_ = true;
};

/// "?,?,?": of as many columns as the table has.
Result<std::string> PlacesOf(Database& database, const std::string& table) {
  TY_TRY(const std::int64_t columns,
         ReadInt(database, "SELECT count(*) FROM pragma_table_info(" + Quoted(table, '\'') + ")"));
  std::string places;
  for (std::int64_t i = 0; i < columns; ++i) places += i == 0 ? "?" : ",?";
  return places;
}

/// "a DESC, b DESC": the primary key from its end on.
Result<std::string> BackwardsIn(Database& database, const std::string& table) {
  TY_TRY(Statement statement, database.Prepare("SELECT name FROM pragma_table_info(" + Quoted(table, '\'') +
                                               ") WHERE pk > 0 ORDER BY pk"));
  std::string order;
  Cursor row = statement.Query();
  for (;;) {
    TY_TRY(const bool found, row.Next());
    if (!found) return order;
    order += (order.empty() ? "" : ", ") + Quoted(std::string(row.Text(0)), '"') + " DESC";
  }
}

/// Copies a table without rowids from both ends up to the damage.
Status CopyFromEnds(Database& from, Database& to, const std::string& table, Statement insert,
                    SalvageResult& salvaged) {
  const std::string all = "SELECT * FROM " + Quoted(table, '"');
  TY_TRY(const std::string backwards, BackwardsIn(to, table));
  for (const std::string& sql : {all, all + " ORDER BY " + backwards}) {
    TY_TRY(Statement read, from.Prepare(sql));
    Cursor row = read.Query();
    for (;;) {
      const Result<bool> found = row.Next();
      if (!found && found.error().code != Code::kDataLoss) return std::unexpected(found.error());
      if (!found) break;
      if (!*found) return {};
      TY_RETURN_IF_ERROR(insert.RunWith(row, 0));
      salvaged.rows += to.Changes();
    }
  }
  salvaged.incomplete.push_back(table);
  return {};
}

Status CopyTable(Database& from, Database& to, const SchemaEntry& table, SalvageResult& salvaged) {
  TY_RETURN_IF_ERROR(to.Execute(table.sql));
  const std::string name = Quoted(table.name, '"');
  TY_TRY(const std::string places, PlacesOf(to, table.name));
  TY_TRY(Statement insert, to.Prepare("INSERT OR IGNORE INTO " + name + " VALUES(" + places + ")"));
  if (!to.Prepare("SELECT rowid FROM " + name))
    return CopyFromEnds(from, to, table.name, std::move(insert), salvaged);
  const Result<std::int64_t> last = ReadInt(from, "SELECT max(rowid) FROM " + name);
  TY_TRY(Statement read,
         from.Prepare("SELECT rowid, * FROM " + name + " WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid"));
  TableCopy copy(std::move(read), std::move(insert));
  TY_RETURN_IF_ERROR(copy.Copy(0, last ? std::max<std::int64_t>(*last, 0) : kRowsMax));
  salvaged.rows += copy.rows();
  if (!last || !copy.is_whole()) salvaged.incomplete.push_back(table.name);
  return {};
}

/// Copies AUTOINCREMENT's counters if they can be read, so that used numbers are not assigned again.
Status CopyLastNumbers(Database& from, Database& to) {
  Result<Statement> read = from.Prepare("SELECT name, seq FROM sqlite_sequence");
  if (!read) return {};  // no table of this kind has any
  TY_TRY(Statement update, to.Prepare("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1"));
  TY_TRY(Statement insert, to.Prepare("INSERT INTO sqlite_sequence(name, seq) VALUES(?1, ?2)"));
  Cursor row = read->Query();
  for (;;) {
    const Result<bool> found = row.Next();
    if (!found || !*found) return {};
    TY_RETURN_IF_ERROR(update.Run(row.Text(0), row.Int(1)));
    if (to.Changes() == 0) TY_RETURN_IF_ERROR(insert.Run(row.Text(0), row.Int(1)));
  }
}

Status CopyAll(Database& from, Database& to, SalvageResult& salvaged) {
  for (const std::string pragma : {"user_version", "application_id"}) {
    TY_TRY(const std::int64_t value, ReadInt(from, "PRAGMA " + pragma));
    TY_RETURN_IF_ERROR(to.Execute("PRAGMA " + pragma + "=" + std::to_string(value)));
  }
  TY_TRY(const std::vector<SchemaEntry> tables, SchemaOf(from, "table"));
  TY_TRY(const std::vector<SchemaEntry> indexes, SchemaOf(from, "index"));
  TY_TRY(Transaction transaction, Transaction::Begin(to));
  for (const SchemaEntry& table : tables) TY_RETURN_IF_ERROR(CopyTable(from, to, table, salvaged));
  for (const SchemaEntry& index : indexes) TY_RETURN_IF_ERROR(to.Execute(index.sql));
  TY_RETURN_IF_ERROR(CopyLastNumbers(from, to));
  return transaction.Commit();
}

/// A copy that SQLite may write to, as it does when it reads the write-ahead log.
class Scratch {
 public:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    for (const char* suffix : {"", kLogSuffix, kMemorySuffix}) fs::remove(path_ + suffix, error);
  }
  [[nodiscard]] Status Fill(const std::string& from) const {
    for (const char* suffix : {"", kLogSuffix}) {
      std::error_code error;
      if (!fs::exists(from + suffix, error)) continue;
      fs::copy_file(from + suffix, path_ + suffix, fs::copy_options::overwrite_existing, error);
      if (error) return std::unexpected(ErrnoError(error.value(), "copy " + from + suffix));
    }
    return {};
  }

 private:
  std::string path_;
};

}  // namespace

Status CheckWhole(const std::string& path) {
  TY_TRY(Database database, Database::OpenAsItIs(path));
  TY_TRY(Statement statement, database.Prepare("PRAGMA quick_check(1)"));
  Cursor row = statement.Query();
  TY_TRY(const bool found, row.Next());
  if (found && row.Text(0) == "ok") return {};
  return std::unexpected(Error{Code::kDataLoss, found ? std::string(row.Text(0)) : "it cannot be read", {}});
}

Status CheckReadable(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (fs::exists(path + kNoteSuffix, error)) {
    TY_RETURN_IF_ERROR(CheckWhole(path));
    fs::remove(path + kNoteSuffix, error);
  }
  TY_TRY(Database database, Database::OpenAsItIs(path));
  TY_TRY(const std::vector<SchemaEntry> tables, SchemaOf(database, "table"));
  for (const SchemaEntry& table : tables) {
    const std::string name = Quoted(table.name, '"');
    for (const char* end : {"max", "min"}) {
      Result<std::int64_t> read = ReadInt(database, "SELECT " + std::string(end) + "(rowid) FROM " + name);
      if (!read && read.error().code != Code::kDataLoss)  // a table without rowids
        read = ReadInt(database, "SELECT count(*) FROM (SELECT 1 FROM " + name + " LIMIT 1)");
      TY_RETURN_IF_ERROR(read);
    }
  }
  return {};
}

Status NoteDamage(const std::string& path) { return WriteFileAtomically(path + kNoteSuffix, "", 0600); }

Result<SalvageResult> Salvage(const std::string& damaged, const std::string& target) {
  const std::string scratch_path = target + ".scratch";
  const Scratch scratch(scratch_path);
  TY_RETURN_IF_ERROR(scratch.Fill(damaged));
  TY_RETURN_IF_ERROR(WriteFileAtomically(target, "", 0600));
  SalvageResult salvaged;
  {
    TY_TRY(Database from, Database::OpenAsItIs(scratch_path));
    TY_TRY(Database to, Database::OpenAsItIs(target));
    TY_RETURN_IF_ERROR(CopyAll(from, to, salvaged));
  }
  TY_RETURN_IF_ERROR(SyncDirectory(fs::path(target).parent_path()));
  return salvaged;
}

Result<std::string> SetAside(const std::string& path) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::error_code error;
  std::string aside;
  for (auto seconds = std::chrono::floor<std::chrono::seconds>(now).count();; ++seconds) {
    aside = path + ".damaged-" + std::to_string(seconds);
    if (!fs::exists(aside, error)) break;
  }
  for (const char* suffix : {kMemorySuffix, kLogSuffix, ""}) {  // the database last: until then it is a whole
    if (std::rename((path + suffix).c_str(), (aside + suffix).c_str()) != 0 && errno != ENOENT)
      return std::unexpected(ErrnoError(errno, "rename " + path + suffix));
  }
  fs::remove(path + kNoteSuffix, error);
  TY_RETURN_IF_ERROR(SyncDirectory(fs::path(path).parent_path()));
  return aside;
}

Status CheckForeign(const std::string& path) {
  TY_TRY(Database database, Database::OpenAsItIs(path));
  TY_TRY(Statement schema,
         database.Prepare(
             "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE "
             "'CREATE VIRTUAL %'"));
  {
    Cursor row = schema.Query();
    TY_TRY(const bool found, row.Next());
    if (found)
      return std::unexpected(FailedPrecondition(path + " has the " + std::string(row.Text(0)) + " '" +
                                                std::string(row.Text(1)) +
                                                "', which no database of ours has"));
  }
  TY_TRY(Statement check, database.Prepare("PRAGMA quick_check(1)"));
  Cursor row = check.Query();
  TY_TRY(const bool found, row.Next());
  if (found && row.Text(0) == "ok") return {};
  return std::unexpected(
      Error{Code::kDataLoss, path + " is damaged: " + std::string(found ? row.Text(0) : ""), {}});
}

}  // namespace trainyard::sqlite
