#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/remove_tree.h"
#include "base/async/unique_fd.h"
#include "base/clock.h"
#include "base/result.h"
#include "rules/objects/conditions.h"
#include "stores/storage/buckets.h"
#include "stores/storage/records.h"
#include "stores/storage/resource.h"
#include "stores/storage/staged_file.h"
#include "stores/storage/unfinished_writes.h"
#include "stores/storage/walk.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace trainyard::storage {

/// An object opened for reading. `file` keeps this version's contents, even if it is replaced or deleted.
struct OpenedObject {
  v1::Object resource;  ///< without checksums if the server has not read the file yet: see HasChecksums
  UniqueFd file;
  FileStamp stamp;
};
[[nodiscard]] bool HasChecksums(const v1::Object& resource);

/// The state of a write between its begin and its end.
struct BegunWrite {
  UniqueFd bucket;           ///< open, so that a new bucket of the same name is not mistaken for it
  std::int64_t present = 0;  ///< bytes of the existing object of that name
};

/// Buckets and objects as names: the directory DATA/buckets and the records in DATA/objects.db, kept in step.
/// The file is authoritative: a record is valid only while its stamp equals the file's.
///
/// Blocking; one thread (that of Buckets), except where "any thread" is said, so that a condition is checked
/// in the same step as the change. Bytes are not read or written here. Every success is durable. Errors:
/// kNotFound (no such bucket or object), kInvalidArgument (malformed names), kFailedPrecondition (a
/// condition), kAborted (a conflict, 409), kResourceExhausted (disk full).
class BucketFiles {
 public:
  /// Also removes what uploads of a previous server left, except resumable ones that are still valid.
  /// kFailedPrecondition: the directory configured for a bucket cannot be used, with the reason.
  [[nodiscard]] static Result<BucketFiles> Open(const BucketOptions& options, const Clock& clock);

  [[nodiscard]] Result<v1::Bucket> InsertBucket(v1::Bucket bucket, BucketMaker maker);
  /// Creates the bucket if the options allow it; otherwise kNotFound with a text that says what to do. A
  /// bucket of the real Cloud Storage is assumed to exist.
  [[nodiscard]] Result<v1::Bucket> EnsureBucket(const std::string& name);
  [[nodiscard]] Result<v1::Bucket> GetBucket(const std::string& name, const Conditions& when = {});
  /// In order. May take long: any thread.
  [[nodiscard]] Result<std::vector<std::string>> BucketNames(std::string_view prefix) const;
  /// Leaves out names that are not buckets.
  [[nodiscard]] Result<std::vector<v1::Bucket>> DescribeBuckets(std::span<const std::string> names);
  [[nodiscard]] Result<v1::Bucket> EditBucket(const std::string& name, const BucketEdit& edit,
                                              const Conditions& when);

  /// Deletion takes four steps, of which CheckEmpty and the clearing may take long. A write in the meantime
  /// aborts it: kAborted, with the text of NotEmpty. Step one: the bucket exists and may be deleted.
  [[nodiscard]] Status CheckDeletable(const std::string& name, const Conditions& when);
  /// Any thread.
  [[nodiscard]] Status CheckEmpty(const std::string& name) const;
  [[nodiscard]] Result<TreeRemover> BeginClearing(const std::string& name) const;
  [[nodiscard]] Status DropEmptyBucket(const std::string& name, const Conditions& when);
  [[nodiscard]] static Error NotEmpty(Error why);

  [[nodiscard]] Result<OpenedObject> OpenObject(const std::string& bucket, const std::string& object,
                                                const Conditions& when);
  /// Stores checksums of files that the server did not write; skips files that have changed meanwhile.
  [[nodiscard]] Status KeepChecksums(std::span<const OpenedObject> hashed);
  /// May take long: any thread.
  [[nodiscard]] Result<NamePage> ListNames(const std::string& bucket, const NameQuery& query) const;
  /// Leaves out objects that disappeared in the meantime.
  [[nodiscard]] Result<std::vector<v1::Object>> Describe(const std::string& bucket,
                                                         std::span<const std::string> objects);

  /// Checks what can be checked before the bytes arrive: ensures the bucket; checks name, fields, conditions.
  /// @param moves  the bytes are those of another object and need no extra space: see Place.
  [[nodiscard]] Result<BegunWrite> BeginWrite(const v1::Object& resource, const Conditions& when,
                                              bool moves = false);
  /// Makes a synced file the object `resource.bucket()/resource.name()` with the other fields that clients
  /// can set. `bucket`: BegunWrite's. kNotFound: it was deleted meanwhile.
  /// @param moved_from  the object of the same bucket whose bytes these are: it is deleted in the same
  ///        step, so no quota is checked. kAborted: it is no longer that version.
  [[nodiscard]] Result<v1::Object> Place(StagedFile& staged, v1::Object resource, const Conditions& when,
                                         const UniqueFd& bucket, const v1::Object* moved_from = nullptr);
  /// The same for a resumable upload, whose record becomes complete in the same transaction. kNotFound: it
  /// ended meanwhile, for example with its bucket.
  [[nodiscard]] Result<v1::Object> Place(StagedFile& staged, const UploadRecord& upload);
  [[nodiscard]] Result<v1::Object> Edit(const std::string& bucket, const std::string& object,
                                        const ObjectEdit& edit, const Conditions& when);
  [[nodiscard]] Status Remove(const std::string& bucket, const std::string& object, const Conditions& when);

  [[nodiscard]] const BucketOptions& options() const noexcept { return options_; }
  [[nodiscard]] Records& records() noexcept { return records_; }
  [[nodiscard]] Result<UniqueFd> OpenBucket(const std::string& name) const;
  [[nodiscard]] Staging& staging() const noexcept { return *staging_; }

 private:
  BucketFiles(const BucketOptions& options, const Clock& clock, UniqueFd buckets, UniqueFd uploads,
              Records records);
  Result<v1::Object> PlaceIn(int folder, StagedFile& staged, v1::Object resource, const Conditions& when,
                             const UploadRecord* upload, bool moves = false);
  Result<v1::Bucket> BucketOf(int folder, const std::string& name);
  Result<std::optional<OpenedObject>> Find(int folder, const std::string& bucket, const std::string& object);
  std::int64_t NextGeneration(std::int64_t present);

  BucketOptions options_;
  const Clock* clock_;
  UniqueFd buckets_;
  std::map<std::string, UniqueFd> elsewhere_;  ///< directories of buckets that are not below buckets_
  std::unique_ptr<Staging> staging_;
  Records records_;
  std::int64_t last_generation_ = 0;
};

}  // namespace trainyard::storage
