#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

/// C++ classes over SQLite: connections, statements and transactions that release their resources, errors as
/// Result. A connection and all that was made from it belong to one thread at a time.
namespace trainyard::sqlite {

/// Bytes that are bound as BLOB; a plain string_view is bound as TEXT.
struct Blob {
  std::string_view bytes;
};

/// The error for a failed SQLite call; the message begins with the name of the database's file.
/// kResourceExhausted: no space left (or over quota); kUnavailable: locked by another process, no memory, or
/// an I/O error; kDataLoss: the file is damaged; kPermissionDenied: not writable; kAlreadyExists: a UNIQUE or
/// PRIMARY KEY rule; kFailedPrecondition: any other constraint; kOutOfRange: a value beyond SQLite's limit;
/// kInternal: the rest.
[[nodiscard]] Error SqliteError(sqlite3* connection, int code);

/// The rows of one execution. Resets its statement when destroyed, so no read transaction stays open by
/// accident. What Text() and Blob() return is valid until the next call of Next().
class Cursor {
 public:
  explicit Cursor(sqlite3_stmt* statement, Status bound);
  Cursor(Cursor&& other) noexcept;
  Cursor& operator=(Cursor&&) = delete;
  ~Cursor();

  /// True: there is a row.
  [[nodiscard]] Result<bool> Next();

  /// Columns count from 0. NULL is read as 0 or empty.
  [[nodiscard]] std::int64_t Int(int column) const;
  [[nodiscard]] std::string_view Text(int column) const;
  [[nodiscard]] std::string_view Bytes(int column) const;
  [[nodiscard]] bool IsNull(int column) const;

 private:
  friend class Statement;
  sqlite3_stmt* statement_;
  Status bound_;
};

/// A prepared statement, kept and executed many times. One execution at a time.
class Statement {
 public:
  Statement() = default;

  /// Executes with these values for ?1, ?2, ... and yields rows. The values are copied.
  template <class... Values>
  [[nodiscard]] Cursor Query(const Values&... values) {
    Restart();
    int index = 0;
    Status bound;
    ((bound = bound ? Bind(++index, values, true) : bound), ...);
    return Cursor(statement_.get(), std::move(bound));
  }

  /// Executes a statement that yields no rows.
  template <class... Values>
  [[nodiscard]] Status Run(const Values&... values) {
    Restart();
    int index = 0;
    Status bound;
    ((bound = bound ? Bind(++index, values, false) : bound), ...);
    return Finish(std::move(bound));
  }
  /// Executes it with the values of a row of another connection, from this column on.
  [[nodiscard]] Status RunWith(const Cursor& row, int first_column);

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  void Restart();
  Status Finish(Status bound);
  Status BindInt(int index, std::int64_t value);
  Status BindText(int index, std::string_view value, bool copy);
  Status Bind(int index, std::string_view value, bool copy) { return BindText(index, value, copy); }
  Status Bind(int index, Blob value, bool copy);
  Status Bind(int index, std::nullptr_t, bool copy);
  template <std::integral Value>
  Status Bind(int index, Value value, bool) {
    return BindInt(index, static_cast<std::int64_t>(value));
  }
  template <class Value>
  Status Bind(int index, const std::optional<Value>& value, bool copy) {
    return value ? Bind(index, *value, copy) : Bind(index, nullptr, copy);
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// How to open a database and what it must look like.
struct DatabaseOptions {
  std::string path;
  /// Stored in the file's header. A file with another id is refused (kFailedPrecondition).
  std::int32_t application_id = 0;
  /// Element i migrates schema version i to i+1 (it may have several SQL statements). Never edit one that was
  /// released: append. A file with a higher version is refused (kFailedPrecondition) and not changed.
  std::span<const std::string_view> migrations;
  /// Reads only; the file must exist with the current schema. For the second connection of a store.
  bool read_only = false;
  std::int32_t page_bytes = 4096;  ///< of a new file: a power of two, 512..65536
  std::int64_t cache_bytes = 8 << 20;
  std::int64_t checkpoint_bytes = 4 << 20;  ///< the write-ahead log is copied back when it is longer
};

/// A connection. WAL, synchronous=FULL (a committed transaction survives a power cut), foreign keys on, waits
/// at most kBusyWait for another process's lock. Destroying it closes the file; its statements must be gone
/// by then.
class Database {
 public:
  /// Opens the file, creates it if there is none, brings the schema up to date.
  [[nodiscard]] static Result<Database> Open(const DatabaseOptions& options);

  /// Opens the file for copying: does not check its kind, migrate it or change a setting. kNotFound: there is
  /// no such file.
  [[nodiscard]] static Result<Database> OpenAsItIs(const std::string& path);

  /// kInternal for malformed SQL.
  [[nodiscard]] Result<Statement> Prepare(std::string_view sql);
  /// Prepares each text into its statement; stops at the first error.
  [[nodiscard]] Status PrepareAll(std::initializer_list<std::pair<Statement*, std::string_view>> statements);
  /// Prepares the texts and returns the statements in this order; stops at the first error.
  [[nodiscard]] Result<std::vector<Statement>> PrepareAll(std::span<const std::string_view> statements);
  /// Runs SQL statements without values and ignores rows.
  [[nodiscard]] Status Execute(const std::string& sql);

  /// For tests: how SQLite would execute these statements, step by step, so that a missing index shows.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans(std::span<const std::string_view> statements);

  /// The number of rows that the last INSERT, UPDATE or DELETE changed.
  [[nodiscard]] std::int64_t Changes() const;
  [[nodiscard]] std::int64_t LastInsertRowId() const;
  /// False also when SQLite rolled back by itself (full disk, I/O error).
  [[nodiscard]] bool InTransaction() const;
  [[nodiscard]] std::string Path() const;

 private:
  friend class Copying;
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}
  static Result<Database> Connect(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> connection_;
};

/// BEGIN IMMEDIATE ... COMMIT. Rolls back when destroyed without Commit(), and when Commit() fails.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  /// Durable when it returns success; nothing is stored when it fails.
  [[nodiscard]] Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

/// Sets the connection's pragmas, checks that the file is of the wanted kind and version, and migrates it
/// (each step in its own transaction, so a crash leaves one version or the next). A file of an older version
/// is copied first (schema_copies.h). Errors as Database::Open.
[[nodiscard]] Status PrepareSchema(Database& database, const DatabaseOptions& options);

}  // namespace trainyard::sqlite
