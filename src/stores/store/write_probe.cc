#include "stores/store/write_probe.h"

#include <utility>

#include "base/sqlite/database.h"

namespace trainyard::store {

WriteProbe::WriteProbe(std::string path) : path_(std::move(path)) {}

WriteProbe::~WriteProbe() = default;

Status WriteProbe::Try() {
  if (database_ == nullptr) {
    TY_TRY(sqlite::Database database, sqlite::Database::OpenAsItIs(path_));
    database_ = std::make_unique<sqlite::Database>(std::move(database));
  }
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  std::int64_t version = 0;
  {
    TY_TRY(sqlite::Statement read, database_->Prepare("PRAGMA user_version"));
    sqlite::Cursor cursor = read.Query();
    TY_RETURN_IF_ERROR(cursor.Next());
    version = cursor.Int(0);
  }
  // The same value: the page is written nevertheless.
  TY_RETURN_IF_ERROR(database_->Execute("PRAGMA user_version=" + std::to_string(version)));
  return transaction.Commit();
}

}  // namespace trainyard::store
