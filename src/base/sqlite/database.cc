#include "base/sqlite/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/guarded.h"
#include "base/check.h"
#include "base/sqlite/full_disk.h"
#include "base/sqlite/salvage.h"

namespace trainyard::sqlite {

namespace {

constexpr std::chrono::milliseconds kBusyWait{5000};

std::string PathOf(sqlite3* connection) {
  const char* path = connection != nullptr ? sqlite3_db_filename(connection, "main") : nullptr;
  return path != nullptr && *path != '\0' ? path : "database";
}

std::string LastComponent(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Clients see the error, and must not see the server's paths.
std::string NameOf(sqlite3* connection) { return LastComponent(PathOf(connection)); }

Status Check(sqlite3_stmt* statement, int code) {
  if (code == SQLITE_OK) return {};
  return std::unexpected(SqliteError(sqlite3_db_handle(statement), code));
}

Code CodeOfErrno(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case ENOENT: return Code::kNotFound;
    case EMFILE:
    case ENFILE: return Code::kUnavailable;
    default: return Code::kInternal;
  }
}

bool IsOutOfSpace(int code, int error_number) {
  return code == SQLITE_FULL || (((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN) &&
                                 (error_number == ENOSPC || error_number == EDQUOT));
}

/// errno of the failed call, if it is known.
int ErrnoOf(sqlite3* connection, int code) {
  if (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE) return LastWriteError();
  return connection != nullptr ? sqlite3_system_errno(connection) : 0;
}

Code CodeOf(int code, int error_number) {
  if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY) return Code::kAlreadyExists;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM: return Code::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::kDataLoss;
    case SQLITE_READONLY:
    case SQLITE_PERM: return Code::kPermissionDenied;
    case SQLITE_CANTOPEN: return CodeOfErrno(error_number);
    case SQLITE_IOERR: return Code::kUnavailable;  // a disk that does not answer, or was made read-only
    case SQLITE_CONSTRAINT: return Code::kFailedPrecondition;
    case SQLITE_TOOBIG: return Code::kOutOfRange;
    default: return Code::kInternal;
  }
}

/// Databases in use that have not been reported as damaged.
Guarded<std::set<std::string>>& TakenForSound() {
  static Guarded<std::set<std::string>> paths;
  return paths;
}

/// Logs the damage once for each database: callers get the error, but only the operator can fix it.
void SayDamaged(const std::string& path, const std::string& message) {
  if (TakenForSound().With([&path](auto& paths) { return paths.erase(path); }) == 0) return;
  const Status noted = NoteDamage(path);
  Diagnose(DiagnosticLevel::kError, path + " is damaged (" + message +
                                        "): what it holds may be missing from answers, and what is new " +
                                        "may not be stored. Restart the server: it checks the " +
                                        (noted ? "whole file" : "file") + ", and says what can be done");
}

}  // namespace

Error SqliteError(sqlite3* connection, int code) {
  const int error_number = ErrnoOf(connection, code);
  if (IsOutOfSpace(code, error_number)) {
    return {Code::kResourceExhausted, NameOf(connection) + ": No space left on device", {}};
  }
  // The connection's own message is more precise ("UNIQUE constraint failed: t.a"), if it is about this code.
  const bool own = connection != nullptr && sqlite3_extended_errcode(connection) == code;
  std::string message = NameOf(connection) + ": " + (own ? sqlite3_errmsg(connection) : sqlite3_errstr(code));
  if ((code & 0xff) == SQLITE_IOERR && error_number != 0)
    message += " (" + std::generic_category().message(error_number) + ")";
  if (CodeOf(code, error_number) == Code::kDataLoss) SayDamaged(PathOf(connection), message);
  return {CodeOf(code, error_number), std::move(message), {}};
}

Cursor::Cursor(sqlite3_stmt* statement, Status bound) : statement_(statement), bound_(std::move(bound)) {}

Cursor::Cursor(Cursor&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), bound_(std::move(other.bound_)) {}

Cursor::~Cursor() {
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

Result<bool> Cursor::Next() {
  TY_CHECK(statement_ != nullptr);
  if (!bound_) return std::unexpected(bound_.error());
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(SqliteError(sqlite3_db_handle(statement_), code));
}

std::int64_t Cursor::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Cursor::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Cursor::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Cursor::IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

void Statement::Restart() {
  TY_CHECK(statement_ != nullptr);
  TY_CHECK(sqlite3_stmt_busy(statement_.get()) == 0);
}

Status Statement::Finish(Status bound) {
  if (!bound) return bound;
  const int code = sqlite3_step(statement_.get());
  Status done = code == SQLITE_DONE || code == SQLITE_ROW ? Status{} : Check(statement_.get(), code);
  sqlite3_reset(statement_.get());
  return done;
}

Status Statement::RunWith(const Cursor& row, int first_column) {
  Restart();
  Status bound;
  for (int column = first_column; bound && column < sqlite3_column_count(row.statement_); ++column)
    bound = Check(statement_.get(), sqlite3_bind_value(statement_.get(), column - first_column + 1,
                                                       sqlite3_column_value(row.statement_, column)));
  return Finish(std::move(bound));
}

Status Statement::BindInt(int index, std::int64_t value) {
  return Check(statement_.get(), sqlite3_bind_int64(statement_.get(), index, value));
}

Status Statement::BindText(int index, std::string_view value, bool copy) {
  // A null pointer would bind NULL, not "".
  const char* text = value.data() != nullptr ? value.data() : "";
  return Check(statement_.get(), sqlite3_bind_text64(statement_.get(), index, text, value.size(),
                                                     copy ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8));
}

Status Statement::Bind(int index, Blob value, bool copy) {
  const char* bytes = value.bytes.data() != nullptr ? value.bytes.data() : "";
  return Check(statement_.get(), sqlite3_bind_blob64(statement_.get(), index, bytes, value.bytes.size(),
                                                     copy ? SQLITE_TRANSIENT : SQLITE_STATIC));
}

Status Statement::Bind(int index, std::nullptr_t, bool) {
  return Check(statement_.get(), sqlite3_bind_null(statement_.get(), index));
}

void Database::Close::operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }

Result<Database> Database::Connect(const std::string& path, int flags) {
  WatchWrites();
  sqlite3* connection = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &connection,
                                     SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | flags, nullptr);
  Database database(connection);
  if (opened != SQLITE_OK) {
    Error error = SqliteError(connection, opened);
    if (const int error_number = sqlite3_system_errno(connection); error_number != 0)
      error = ErrnoError(error_number, path);
    return std::unexpected(std::move(error));
  }
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, static_cast<int>(kBusyWait.count()));
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
                    nullptr);  // the file may come from an untrusted source
  return database;
}

Result<Database> Database::Open(const DatabaseOptions& options) {
  TY_TRY(Database database,
         Connect(options.path,
                 options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  TY_RETURN_IF_ERROR(PrepareSchema(database, options));
  TakenForSound().With([&database](auto& paths) { paths.insert(database.Path()); });
  return database;
}

Result<Database> Database::OpenAsItIs(const std::string& path) {
  return Connect(path, SQLITE_OPEN_READWRITE);
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) return std::unexpected(SqliteError(connection_.get(), code));
  Statement statement;
  statement.statement_.reset(prepared);
  return statement;
}

Status Database::PrepareAll(std::initializer_list<std::pair<Statement*, std::string_view>> statements) {
  for (const auto& [statement, sql] : statements) {
    TY_TRY(*statement, Prepare(sql));
  }
  return {};
}

Result<std::vector<Statement>> Database::PrepareAll(std::span<const std::string_view> statements) {
  std::vector<Statement> prepared(statements.size());
  for (std::size_t i = 0; i < statements.size(); ++i) {
    TY_TRY(prepared[i], Prepare(statements[i]));
  }
  return prepared;
}

Result<std::vector<std::string>> Database::QueryPlans(std::span<const std::string_view> statements) {
  std::vector<std::string> plans;
  for (const std::string_view sql : statements) {
    TY_TRY(Statement explain, Prepare("EXPLAIN QUERY PLAN " + std::string(sql)));
    Cursor cursor = explain.Query();
    for (;;) {
      TY_TRY(const bool row, cursor.Next());
      if (!row) break;
      plans.emplace_back(cursor.Text(3));
    }
  }
  return plans;
}

Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return std::unexpected(SqliteError(connection_.get(), code));
}

std::int64_t Database::Changes() const { return sqlite3_changes64(connection_.get()); }

std::int64_t Database::LastInsertRowId() const { return sqlite3_last_insert_rowid(connection_.get()); }

bool Database::InTransaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

std::string Database::Path() const { return PathOf(connection_.get()); }

Result<Transaction> Transaction::Begin(Database& database) {
  TY_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  if (database_ != nullptr && database_->InTransaction()) static_cast<void>(database_->Execute("ROLLBACK"));
}

Status Transaction::Commit() {
  TY_CHECK(database_ != nullptr);
  if (!database_->InTransaction()) {
    return std::unexpected(
        Error{Code::kAborted, LastComponent(database_->Path()) + ": the transaction was rolled back", {}});
  }
  TY_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace trainyard::sqlite
