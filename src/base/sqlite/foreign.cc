#include "base/sqlite/foreign.h"

#include "base/sqlite/database.h"

namespace trainyard::sqlite {

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
