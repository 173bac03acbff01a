#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/async/guarded.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "rules/objects/conditions.h"
#include "stores/storage/folder.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace trainyard::storage {

/// The record of an object: its resource, and the stamp of the file that it describes.
struct ObjectRecord {
  FileStamp stamp;
  v1::Object resource;  ///< without checksums while they are not known
};

/// A resumable upload that survives a restart. Its bytes are the file of this id in the uploads directory.
struct UploadRecord {
  std::string id;
  std::int64_t expires_ns = 0;  ///< since the epoch
  Conditions conditions;
  std::optional<std::uint64_t> total;  ///< bytes announced
  bool complete =
      false;            ///< no more bytes follow; once its file is gone too, `resource` is the stored object
  v1::Object resource;  ///< as sent by the client
};

/// Why a bucket was made: a request for it, or an upload that named it while it did not exist.
enum class BucketMaker { kRequest, kUpload };

/// The tables behind buckets and objects (DATA/objects.db). One thread, except where "any thread" is said.
/// Every change is durable when it returns. Errors: as sqlite::SqliteError words them.
class Records {
 public:
  [[nodiscard]] static Result<Records> Open(const std::filesystem::path& file);

  /// Up to two: the object's and, while it is being replaced, the next version's. The file's stamp tells
  /// which one is valid.
  [[nodiscard]] Result<std::vector<ObjectRecord>> FindObjects(const std::string& bucket,
                                                              const std::string& object);
  /// Adds a record and deletes the object's others, except the one whose stamp is `present`. The upload that
  /// it came from, if any, is stored in the same transaction.
  [[nodiscard]] Status PutObject(const ObjectRecord& record, const std::optional<FileStamp>& present,
                                 const UploadRecord* upload = nullptr);
  /// The same for many, in one transaction.
  [[nodiscard]] Status PutObjects(std::span<const ObjectRecord> records);
  [[nodiscard]] Status DropObject(const std::string& bucket, const std::string& object);
  /// The same for many, in one transaction.
  [[nodiscard]] Status DropObjects(const std::string& bucket, std::span<const std::string> objects);

  [[nodiscard]] Result<std::optional<v1::Bucket>> FindBucket(const std::string& name);
  [[nodiscard]] Status PutBucket(const v1::Bucket& bucket, BucketMaker maker);
  /// Whether the bucket was put with BucketMaker::kUpload and not confirmed since. Any thread.
  [[nodiscard]] bool IsByUpload(const std::string& name) const;
  /// The bucket counts as requested from now on.
  [[nodiscard]] Status ConfirmBucket(const std::string& name);
  /// Also drops its objects' records.
  [[nodiscard]] Status DropBucket(const std::string& name);

  [[nodiscard]] Result<std::optional<UploadRecord>> FindUpload(const std::string& id);
  [[nodiscard]] Status PutUpload(const UploadRecord& upload);
  [[nodiscard]] Status DropUpload(const std::string& id);
  /// Ids of uploads that expired before `now_ns`.
  [[nodiscard]] Result<std::vector<std::string>> ExpiredUploads(std::int64_t now_ns);
  /// Ids of the uploads to the bucket.
  [[nodiscard]] Result<std::vector<std::string>> UploadsOf(const std::string& bucket);
  [[nodiscard]] Status DropUploadsOf(const std::string& bucket);

 private:
  Status Put(const ObjectRecord& record, const std::optional<FileStamp>& present);
  Records(sqlite::Database database, std::vector<sqlite::Statement> statements)
      : database_(std::move(database)), statements_(std::move(statements)) {}
  sqlite::Database database_;
  std::unique_ptr<Guarded<std::set<std::string>>> by_upload_ =
      std::make_unique<Guarded<std::set<std::string>>>();
  std::vector<sqlite::Statement> statements_;  // after the database: finalised first
};

}  // namespace trainyard::storage
