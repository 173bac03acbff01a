#include "stores/storage/records.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/sqlite/full_disk.h"
#include "base/sqlite/rows.h"

namespace trainyard::storage {
namespace {

constexpr std::int32_t kApplicationId = 0x54594f42;  // "TYOB"

constexpr std::array<std::string_view, 3> kMigrations{R"sql(
CREATE TABLE buckets (name TEXT PRIMARY KEY NOT NULL, resource BLOB NOT NULL) STRICT;
CREATE TABLE objects (
  bucket TEXT NOT NULL,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  resource BLOB NOT NULL,
  UNIQUE (bucket, name, generation)
) STRICT;
CREATE TABLE uploads (
  id TEXT PRIMARY KEY NOT NULL,
  expires_ns INTEGER NOT NULL,
  generation INTEGER,
  if_generation_match INTEGER,
  if_generation_not_match INTEGER,
  if_metageneration_match INTEGER,
  if_metageneration_not_match INTEGER,
  total INTEGER,
  complete INTEGER NOT NULL,
  resource BLOB NOT NULL
) STRICT;
)sql",
                                                      // Uploads now have a bucket, and end with it. It is not
                                                      // known whether earlier ones still belong to the
                                                      // present bucket of that name, so they end here.
                                                      R"sql(
DELETE FROM uploads;
ALTER TABLE uploads ADD COLUMN bucket TEXT NOT NULL DEFAULT '';
CREATE INDEX uploads_of_bucket ON uploads (bucket);
)sql",
                                                      // Whether only an upload made the bucket. Of earlier
                                                      // buckets this is not known: they count as requested.
                                                      R"sql(
ALTER TABLE buckets ADD COLUMN by_upload INTEGER NOT NULL DEFAULT 0;
)sql"};

enum Query : std::size_t {
  kFindObjects,
  kAddObject,
  kDropOthers,
  kDropObject,
  kFindBucket,
  kPutBucket,
  kBucketsByUpload,
  kConfirmBucket,
  kDropBucket,
  kDropBucketObjects,
  kFindUpload,
  kPutUpload,
  kDropUpload,
  kExpiredUploads,
  kUploadsOf,
  kDropUploadsOf,
  kQueries,
};

constexpr std::array<std::string_view, kQueries> kSql{
    "SELECT size, mtime_ns, inode, resource FROM objects WHERE bucket = ?1 AND name = ?2 ORDER BY generation "
    "DESC",
    "INSERT OR REPLACE INTO objects (bucket, name, generation, size, mtime_ns, inode, resource) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    "DELETE FROM objects WHERE bucket = ?1 AND name = ?2 AND NOT (size IS ?3 AND mtime_ns IS ?4 AND inode IS "
    "?5)",
    "DELETE FROM objects WHERE bucket = ?1 AND name = ?2",
    "SELECT resource FROM buckets WHERE name = ?1",
    "INSERT OR REPLACE INTO buckets (name, resource, by_upload) VALUES (?1, ?2, ?3)",
    "SELECT name FROM buckets WHERE by_upload",
    "UPDATE buckets SET by_upload = 0 WHERE name = ?1",
    "DELETE FROM buckets WHERE name = ?1",
    "DELETE FROM objects WHERE bucket = ?1",
    "SELECT expires_ns, generation, if_generation_match, if_generation_not_match, if_metageneration_match, "
    "if_metageneration_not_match, total, complete, resource FROM uploads WHERE id = ?1",
    "INSERT OR REPLACE INTO uploads VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    "DELETE FROM uploads WHERE id = ?1",
    "SELECT id FROM uploads WHERE expires_ns < ?1",
    "SELECT id FROM uploads WHERE bucket = ?1",
    "DELETE FROM uploads WHERE bucket = ?1",
};

std::optional<std::int64_t> IntAt(const sqlite::Cursor& row, int column) {
  if (row.IsNull(column)) return std::nullopt;
  return row.Int(column);
}

std::string IdOf(const sqlite::Cursor& row) { return std::string(row.Text(0)); }

template <class Message>
Result<Message> ReadMessage(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return std::unexpected(DataLoss("objects.db: a record cannot be read"));
  }
  return message;
}

}  // namespace

Result<Records> Records::Open(const std::filesystem::path& file) {
  const sqlite::DatabaseOptions options{
      .path = file.string(), .application_id = kApplicationId, .migrations = kMigrations};
  TY_TRY(sqlite::Database database, sqlite::Database::Open(options));
  TY_TRY(std::vector<sqlite::Statement> statements, database.PrepareAll(kSql));
  Records records(std::move(database), std::move(statements));
  TY_TRY(const auto by_upload, AllRows(records.statements_[kBucketsByUpload].Query(), IdOf));
  records.by_upload_->With([&](auto& names) { names.insert(by_upload.begin(), by_upload.end()); });
  return records;
}

Result<std::vector<ObjectRecord>> Records::FindObjects(const std::string& bucket, const std::string& object) {
  const auto read = [](const sqlite::Cursor& row) -> Result<ObjectRecord> {
    TY_TRY(v1::Object resource, ReadMessage<v1::Object>(row.Bytes(3)));
    return ObjectRecord{.stamp = {.size = static_cast<std::uint64_t>(row.Int(0)),
                                  .mtime_ns = row.Int(1),
                                  .inode = static_cast<std::uint64_t>(row.Int(2))},
                        .resource = std::move(resource)};
  };
  return AllRows(statements_[kFindObjects].Query(bucket, object), read);
}

Status Records::Put(const ObjectRecord& record, const std::optional<FileStamp>& present) {
  const v1::Object& object = record.resource;
  const auto field = [&present](auto member) {
    return present ? std::optional(static_cast<std::int64_t>((*present).*member)) : std::nullopt;
  };
  TY_RETURN_IF_ERROR(statements_[kDropOthers].Run(object.bucket(), object.name(), field(&FileStamp::size),
                                                  field(&FileStamp::mtime_ns), field(&FileStamp::inode)));
  return statements_[kAddObject].Run(object.bucket(), object.name(), object.generation(), record.stamp.size,
                                     record.stamp.mtime_ns, record.stamp.inode,
                                     sqlite::Blob{object.SerializeAsString()});
}

Status Records::PutObject(const ObjectRecord& record, const std::optional<FileStamp>& present,
                          const UploadRecord* upload) {
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  TY_RETURN_IF_ERROR(Put(record, present));
  if (upload != nullptr) TY_RETURN_IF_ERROR(PutUpload(*upload));
  return transaction.Commit();
}

Status Records::PutObjects(std::span<const ObjectRecord> records) {
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  for (const ObjectRecord& record : records) TY_RETURN_IF_ERROR(Put(record, std::nullopt));
  return transaction.Commit();
}

Status Records::DropObject(const std::string& bucket, const std::string& object) {
  const sqlite::MayMakeRoom room;
  return statements_[kDropObject].Run(bucket, object);
}

Status Records::DropObjects(const std::string& bucket, std::span<const std::string> objects) {
  const sqlite::MayMakeRoom room;
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  for (const std::string& object : objects) TY_RETURN_IF_ERROR(DropObject(bucket, object));
  return transaction.Commit();
}

Result<std::optional<v1::Bucket>> Records::FindBucket(const std::string& name) {
  return FirstRow(statements_[kFindBucket].Query(name),
                  [](const sqlite::Cursor& row) { return ReadMessage<v1::Bucket>(row.Bytes(0)); });
}

Status Records::PutBucket(const v1::Bucket& bucket, BucketMaker maker) {
  const bool by_upload = maker == BucketMaker::kUpload;
  TY_RETURN_IF_ERROR(statements_[kPutBucket].Run(bucket.name(), sqlite::Blob{bucket.SerializeAsString()},
                                                 by_upload ? 1 : 0));
  by_upload_->With([&](auto& names) {
    if (by_upload)
      names.insert(bucket.name());
    else
      names.erase(bucket.name());
  });
  return {};
}

bool Records::IsByUpload(const std::string& name) const {
  return by_upload_->With([&](const auto& names) { return names.contains(name); });
}

Status Records::ConfirmBucket(const std::string& name) {
  if (!IsByUpload(name)) return {};
  TY_RETURN_IF_ERROR(statements_[kConfirmBucket].Run(name));
  by_upload_->With([&](auto& names) { names.erase(name); });
  return {};
}

Status Records::DropBucket(const std::string& name) {
  const sqlite::MayMakeRoom room;
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  TY_RETURN_IF_ERROR(statements_[kDropBucketObjects].Run(name));
  TY_RETURN_IF_ERROR(statements_[kDropBucket].Run(name));
  TY_RETURN_IF_ERROR(transaction.Commit());
  by_upload_->With([&](auto& names) { names.erase(name); });
  return {};
}

Result<std::optional<UploadRecord>> Records::FindUpload(const std::string& id) {
  sqlite::Cursor row = statements_[kFindUpload].Query(id);
  TY_TRY(const bool found, row.Next());
  if (!found) return std::nullopt;
  TY_TRY(v1::Object resource, ReadMessage<v1::Object>(row.Bytes(8)));
  UploadRecord upload{
      .id = id, .expires_ns = row.Int(0), .complete = row.Int(7) != 0, .resource = std::move(resource)};
  upload.conditions = {.generation = IntAt(row, 1),
                       .if_generation_match = IntAt(row, 2),
                       .if_generation_not_match = IntAt(row, 3),
                       .if_metageneration_match = IntAt(row, 4),
                       .if_metageneration_not_match = IntAt(row, 5)};
  if (const auto total = IntAt(row, 6)) upload.total = static_cast<std::uint64_t>(*total);
  return upload;
}

Status Records::PutUpload(const UploadRecord& upload) {
  const Conditions& when = upload.conditions;
  return statements_[kPutUpload].Run(
      upload.id, upload.expires_ns, when.generation, when.if_generation_match, when.if_generation_not_match,
      when.if_metageneration_match, when.if_metageneration_not_match, upload.total, upload.complete ? 1 : 0,
      sqlite::Blob{upload.resource.SerializeAsString()}, upload.resource.bucket());
}

Status Records::DropUpload(const std::string& id) {
  const sqlite::MayMakeRoom room;
  return statements_[kDropUpload].Run(id);
}

Status Records::DropUploadsOf(const std::string& bucket) {
  const sqlite::MayMakeRoom room;
  return statements_[kDropUploadsOf].Run(bucket);
}

Result<std::vector<std::string>> Records::ExpiredUploads(std::int64_t now_ns) {
  return AllRows(statements_[kExpiredUploads].Query(now_ns), IdOf);
}

Result<std::vector<std::string>> Records::UploadsOf(const std::string& bucket) {
  return AllRows(statements_[kUploadsOf].Query(bucket), IdOf);
}

}  // namespace trainyard::storage
