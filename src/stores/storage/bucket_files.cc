#include "stores/storage/bucket_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "base/async/beneath.h"
#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/wire/resource_name.h"
#include "rules/objects/path_escape.h"
#include "stores/storage/folder.h"
#include "stores/storage/resource.h"

namespace trainyard::storage {

namespace {

std::unexpected<Error> Failed(std::string_view what) { return std::unexpected(ErrnoError(errno, what)); }

std::unexpected<Error> NoSuchBucket(const std::string& name) {
  return std::unexpected(NotFound("The specified bucket does not exist: " + name +
                                  ". A bucket of the real Cloud Storage is read with `trainyard serve "
                                  "--real-bucket " +
                                  name + "`"));
}

std::unexpected<Error> NotMadeOnUse(const std::string& name) {
  return std::unexpected(
      NotFound("The specified bucket does not exist: " + name +
               ". This server does not make buckets on first use; make it with `gcloud storage buckets "
               "create gs://" +
               name + "`"));
}

Status IsElsewhere(const std::string& name) {
  return std::unexpected(Aborted("The bucket " + name +
                                 " is a folder elsewhere on the server's machine; it goes when the server is "
                                 "started without its --bucket-dir"));
}

/// @param buckets  the directory of all buckets, if `name` is not a bucket.
Status CheckNameIsFree(int buckets, const std::string& name) {
  struct stat present{};
  if (::fstatat(buckets, name.c_str(), &present, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return std::unexpected(AlreadyExists("The name " + name +
                                       " is taken by a file or a link in the buckets' folder, which is no "
                                       "bucket; remove it there"));
}

std::int64_t SizeOf(const OpenedObject& object) { return static_cast<std::int64_t>(object.stamp.size); }

std::int64_t SizeOf(const std::optional<OpenedObject>& present) { return present ? SizeOf(*present) : 0; }

Status CheckReplace(const Conditions& when, const std::optional<OpenedObject>& present) {
  return CheckConditions(when, present ? std::optional(VersionOf(present->resource)) : std::nullopt);
}

std::unexpected<Error> NoSuchObject(const std::string& bucket, const std::string& object) {
  return std::unexpected(NotFound("No such object: " + bucket + "/" + object));
}

Result<UniqueFd> OpenFolder(const std::filesystem::path& folder) {
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  return OpenFile(folder, O_RDONLY | O_DIRECTORY);
}

std::unexpected<Error> IsReal(const std::string& name) {
  return std::unexpected(
      PermissionDenied("gs://" + name +
                       " is a bucket of the real Cloud Storage (--real-bucket), which cannot be "
                       "reached in this way; a copy between it and a bucket of this server is up "
                       "to the client"));
}

bool IsInside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// The operator may name any directory, but none inside or above our own data.
Result<UniqueFd> OpenBucketElsewhere(const std::filesystem::path& data, const std::filesystem::path& path) {
  if (!path.is_absolute()) return std::unexpected(FailedPrecondition(path.string() + " is not absolute"));
  TY_TRY(UniqueFd folder, OpenFile(path, O_RDONLY | O_DIRECTORY));
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::canonical(path, failure);
  const std::filesystem::path own = std::filesystem::canonical(data, failure);
  if (failure) return std::unexpected(ErrnoError(failure.value(), path.string()));
  if (IsInside(real, own) || IsInside(own, real)) {
    return std::unexpected(
        FailedPrecondition(path.string() +
                           " is in the data directory, or the data directory is in it: whoever writes to the "
                           "bucket would reach the server's own files"));
  }
  return folder;
}

/// The directories of buckets that are not below `buckets`.
Result<std::map<std::string, UniqueFd>> OpenAllElsewhere(const BucketOptions& options, int buckets) {
  std::map<std::string, UniqueFd> opened;
  for (const auto& [name, path] : options.elsewhere) {
    TY_TRY(UniqueFd folder, OpenBucketElsewhere(options.data, path));
    // Replicas see the bucket at the empty directory of that name, below /gcs.
    if (::mkdirat(buckets, name.c_str(), kFolderMode) != 0 && errno != EEXIST)
      return Failed("make the folder " + name);
    const auto own = OpenFolderBeneath(buckets, std::span(&name, 1));
    if (!own)
      return std::unexpected(FailedPrecondition("DATA/buckets/" + name + " is no folder; remove it first"));
    TY_TRY(const auto inside, NamesIn(own->get()));
    if (!inside.empty()) {
      return std::unexpected(FailedPrecondition("the bucket " + name + " has files in DATA/buckets/" + name +
                                                " already; move them to " + path.string() + " first"));
    }
    opened.emplace(name, std::move(folder));
  }
  return opened;
}

/// Whether `folder`, which has the bucket's name now, is the bucket in which the write began.
Status CheckSame(const UniqueFd& folder, const UniqueFd& begun_in, const std::string& name) {
  struct stat begun{};
  struct stat now{};
  if (::fstat(begun_in.get(), &begun) != 0 || ::fstat(folder.get(), &now) != 0) return Failed("stat");
  if (begun.st_dev == now.st_dev && begun.st_ino == now.st_ino) return {};
  return std::unexpected(
      NotFound("The bucket " + name + " was deleted while the object was written; write it again"));
}

}  // namespace

bool HasChecksums(const v1::Object& resource) { return !resource.md5_hash().empty(); }

BucketFiles::BucketFiles(const BucketOptions& options, const Clock& clock, UniqueFd buckets, UniqueFd uploads,
                         Records records)
    : options_(options),
      clock_(&clock),
      buckets_(std::move(buckets)),
      staging_(std::make_unique<Staging>(options, clock, std::move(uploads))),
      records_(std::move(records)) {}

Result<BucketFiles> BucketFiles::Open(const BucketOptions& options, const Clock& clock) {
  TY_TRY(UniqueFd buckets, OpenFolder(options.data / "buckets"));
  TY_TRY(UniqueFd uploads, OpenFolder(options.data / "uploads"));
  TY_TRY(Records records, Records::Open(options.data / "objects.db"));
  BucketFiles files(options, clock, std::move(buckets), std::move(uploads), std::move(records));
  TY_TRY(files.elsewhere_, OpenAllElsewhere(options, files.buckets_.get()));
  const auto present = [&files](const v1::Object& object) {
    const auto opened = files.OpenObject(object.bucket(), object.name(), {});
    return opened ? SizeOf(*opened) : 0;
  };
  TY_RETURN_IF_ERROR(files.staging_->Sweep(files.records_, present));
  return files;
}

std::int64_t BucketFiles::NextGeneration(std::int64_t present) {
  const auto now = std::chrono::floor<std::chrono::microseconds>(clock_->Now()).time_since_epoch().count();
  last_generation_ = std::max({std::int64_t{now}, last_generation_ + 1, present + 1});
  return last_generation_;
}

Result<UniqueFd> BucketFiles::OpenBucket(const std::string& name) const {
  TY_RETURN_IF_ERROR(wire::ValidateBucketName(name));
  if (options_.real.contains(name)) return IsReal(name);
  const auto other = elsewhere_.find(name);
  if (other != elsewhere_.end()) return OpenFolderBeneath(other->second.get(), {});
  Result<UniqueFd> folder = OpenFolderBeneath(buckets_.get(), std::span(&name, 1));
  if (!folder && folder.error().code == Code::kNotFound) return NoSuchBucket(name);
  return folder;
}

Result<v1::Bucket> BucketFiles::BucketOf(int folder, const std::string& name) {
  TY_TRY(auto kept, records_.FindBucket(name));
  if (kept) return *std::move(kept);
  TY_TRY(const FileStamp stamp, StampOf(folder));  // the directory was made by hand
  v1::Bucket bucket;
  bucket.set_name(name);
  CompleteBucket(bucket, SysTime(std::chrono::nanoseconds(stamp.mtime_ns)));
  return bucket;
}

Result<v1::Bucket> BucketFiles::InsertBucket(v1::Bucket bucket, BucketMaker maker) {
  DropNeutral(bucket);
  TY_RETURN_IF_ERROR(ValidateNewBucket(bucket));
  if (options_.real.contains(bucket.name())) return IsReal(bucket.name());
  if (OpenBucket(bucket.name())) {
    TY_RETURN_IF_ERROR(records_.ConfirmBucket(bucket.name()));  // now somebody has asked for it
    return std::unexpected(AlreadyExists("You already own this bucket: " + bucket.name()));
  }
  TY_RETURN_IF_ERROR(CheckNameIsFree(buckets_.get(), bucket.name()));
  CompleteBucket(bucket, clock_->Now());
  TY_RETURN_IF_ERROR(staging_->EndAllOf(records_, bucket.name()));  // of a bucket removed by hand
  // The record comes first: one without a directory is not a bucket, and the next insert replaces it.
  TY_RETURN_IF_ERROR(records_.PutBucket(bucket, maker));
  if (::mkdirat(buckets_.get(), bucket.name().c_str(), kFolderMode) != 0)
    return Failed("make the bucket's folder");
  TY_TRY(const UniqueFd folder, OpenBucket(bucket.name()));
  if (::fchmod(folder.get(), kFolderMode) != 0) return Failed("chmod the bucket's folder");
  if (::fsync(buckets_.get()) != 0) return Failed("fsync");
  return bucket;
}

Result<v1::Bucket> BucketFiles::EnsureBucket(const std::string& name) {
  if (options_.real.contains(name)) {
    v1::Bucket real;
    real.set_name(name);
    return real;
  }
  Result<v1::Bucket> present = GetBucket(name);
  if (present || present.error().code != Code::kNotFound) return present;
  if (options_.create_on_use) {
    v1::Bucket bucket;
    bucket.set_name(name);
    return InsertBucket(std::move(bucket), BucketMaker::kUpload);
  }
  return NotMadeOnUse(name);
}

Result<v1::Bucket> BucketFiles::GetBucket(const std::string& name, const Conditions& when) {
  TY_TRY(const UniqueFd folder, OpenBucket(name));
  TY_TRY(v1::Bucket bucket, BucketOf(folder.get(), name));
  TY_RETURN_IF_ERROR(CheckConditions(when, VersionOf(bucket)));
  return bucket;
}

Result<v1::Bucket> BucketFiles::EditBucket(const std::string& name, const BucketEdit& edit,
                                           const Conditions& when) {
  TY_TRY(const v1::Bucket present, GetBucket(name, when));
  v1::Bucket changed = present;
  TY_RETURN_IF_ERROR(edit(changed));
  RestoreFixed(present, changed);
  DropNeutral(changed);
  TY_RETURN_IF_ERROR(ValidateNewBucket(changed));
  AdvanceMetageneration(changed, clock_->Now());
  TY_RETURN_IF_ERROR(records_.PutBucket(changed, BucketMaker::kRequest));  // whoever edits it means it
  return changed;
}

Result<std::vector<std::string>> BucketFiles::BucketNames(std::string_view prefix) const {
  TY_TRY(std::vector<std::string> names, NamesIn(buckets_.get()));
  for (const auto& [name, folder] : elsewhere_)
    names.push_back(name);  // a program may have removed its mount point
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(prefix) || !wire::ValidateBucketName(name) || options_.real.contains(name);
  });
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

Result<std::vector<v1::Bucket>> BucketFiles::DescribeBuckets(std::span<const std::string> names) {
  std::vector<v1::Bucket> buckets;
  for (const std::string& name : names) {
    const auto folder = OpenBucket(name);
    if (!folder) continue;  // a file, a link, or deleted
    TY_TRY(v1::Bucket bucket, BucketOf(folder->get(), name));
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

Error BucketFiles::NotEmpty(Error why) {
  if (why.code == Code::kAborted) why.message = "The bucket you tried to delete is not empty: " + why.message;
  return why;
}

Status BucketFiles::CheckDeletable(const std::string& name, const Conditions& when) {
  TY_TRY(const v1::Bucket bucket, GetBucket(name, when));
  return elsewhere_.contains(name) ? IsElsewhere(name) : Status();
}

Status BucketFiles::CheckEmpty(const std::string& name) const {
  TY_TRY(const UniqueFd folder, OpenBucket(name));
  bool empty = true;
  const auto visit = [&empty](const std::string&) -> std::optional<std::string> {
    empty = false;
    return std::nullopt;
  };
  TY_RETURN_IF_ERROR(WalkObjects(folder.get(), {}, {}, visit));
  if (empty) return {};
  return std::unexpected(Aborted("The bucket you tried to delete is not empty"));
}

Result<TreeRemover> BucketFiles::BeginClearing(const std::string& name) const {
  TY_TRY(const UniqueFd folder, OpenBucket(name));
  return TreeRemover::Below(folder.get(), TreeRemover::What::kFoldersOnly);
}

Status BucketFiles::DropEmptyBucket(const std::string& name, const Conditions& when) {
  TY_RETURN_IF_ERROR(CheckDeletable(name, when));
  if (::unlinkat(buckets_.get(), name.c_str(), AT_REMOVEDIR) != 0) {
    const bool mounted = errno == EBUSY;
    return std::unexpected(NotEmpty({Code::kAborted,
                                     mounted ? "its folder is a mount that the operator made; remove it there"
                                             : "something was written to it just now",
                                     {}}));
  }
  if (::fsync(buckets_.get()) != 0) return Failed("fsync");
  TY_RETURN_IF_ERROR(staging_->EndAllOf(records_, name));
  return records_.DropBucket(name);
}

Result<std::optional<OpenedObject>> BucketFiles::Find(int folder, const std::string& bucket,
                                                      const std::string& object) {
  auto file = storage::OpenObject(folder, EscapeObject(object));
  if (!file && file.error().code == Code::kNotFound) return std::nullopt;
  if (!file) return std::unexpected(std::move(file).error());
  TY_TRY(const FileStamp stamp, StampOf(file->get()));
  TY_TRY(auto kept, records_.FindObjects(bucket, object));
  const auto found = std::ranges::find(kept, stamp, &ObjectRecord::stamp);
  v1::Object resource =
      found != kept.end() ? std::move(found->resource) : DiscoveredObject(bucket, object, stamp);
  return OpenedObject{.resource = std::move(resource), .file = *std::move(file), .stamp = stamp};
}

Result<OpenedObject> BucketFiles::OpenObject(const std::string& bucket, const std::string& object,
                                             const Conditions& when) {
  TY_RETURN_IF_ERROR(wire::ValidateObjectName(object));
  TY_TRY(const UniqueFd folder, OpenBucket(bucket));
  TY_TRY(auto found, Find(folder.get(), bucket, object));
  if (!found) return NoSuchObject(bucket, object);
  Status met = CheckConditions(when, VersionOf(found->resource));
  if (!met && met.error().code == Code::kNotFound) return NoSuchObject(bucket, object);
  if (!met) return std::unexpected(std::move(met).error());
  return *std::move(found);
}

Status BucketFiles::KeepChecksums(std::span<const OpenedObject> hashed) {
  std::vector<ObjectRecord> records;
  for (const OpenedObject& seen : hashed) {
    auto now = OpenObject(seen.resource.bucket(), seen.resource.name(), {});
    if (!now || now->stamp != seen.stamp) continue;
    now->resource.set_md5_hash(seen.resource.md5_hash());
    now->resource.set_crc32c(seen.resource.crc32c());
    records.push_back({.stamp = now->stamp, .resource = std::move(now->resource)});
  }
  if (records.empty()) return {};
  return records_.PutObjects(records);
}

Result<NamePage> BucketFiles::ListNames(const std::string& bucket, const NameQuery& query) const {
  TY_TRY(const UniqueFd folder, OpenBucket(bucket));
  return storage::ListNames(folder.get(), query);
}

Result<std::vector<v1::Object>> BucketFiles::Describe(const std::string& bucket,
                                                      std::span<const std::string> objects) {
  TY_TRY(const UniqueFd folder, OpenBucket(bucket));
  std::vector<v1::Object> found;
  for (const std::string& name : objects) {
    TY_TRY(auto one, Find(folder.get(), bucket, name));
    if (one) found.push_back(std::move(one->resource));  // otherwise it was deleted in the meantime
  }
  return found;
}

Result<BegunWrite> BucketFiles::BeginWrite(const v1::Object& resource, const Conditions& when, bool moves) {
  TY_RETURN_IF_ERROR(ValidateNewObject(resource));
  if (!moves) TY_RETURN_IF_ERROR(staging_->CheckSpace(resource.bucket()));
  TY_RETURN_IF_ERROR(EnsureBucket(resource.bucket()));
  TY_TRY(UniqueFd folder, OpenBucket(resource.bucket()));
  TY_TRY(const auto present, Find(folder.get(), resource.bucket(), resource.name()));
  TY_RETURN_IF_ERROR(CheckReplace(when, present));
  if (!moves && options_.meter)  // Grow checks the actual number of bytes later
    TY_RETURN_IF_ERROR(options_.meter->Check(resource.bucket(), 1 - SizeOf(present)));
  return BegunWrite{.bucket = std::move(folder), .present = SizeOf(present)};
}

Result<v1::Object> BucketFiles::Place(StagedFile& staged, v1::Object resource, const Conditions& when,
                                      const UniqueFd& bucket, const v1::Object* moved_from) {
  TY_TRY(const UniqueFd folder, OpenBucket(resource.bucket()));
  TY_RETURN_IF_ERROR(CheckSame(folder, bucket, resource.bucket()));
  if (moved_from == nullptr) return PlaceIn(folder.get(), staged, std::move(resource), when, nullptr);
  Conditions same;
  same.generation = moved_from->generation();
  if (!OpenObject(moved_from->bucket(), moved_from->name(), same))
    return std::unexpected(Aborted("the source changed while it was moved"));
  TY_TRY(v1::Object moved, PlaceIn(folder.get(), staged, std::move(resource), when, nullptr, true));
  TY_RETURN_IF_ERROR(Remove(moved_from->bucket(), moved_from->name(), same));
  return moved;
}

Result<v1::Object> BucketFiles::Place(StagedFile& staged, const UploadRecord& upload) {
  TY_TRY(const auto kept, records_.FindUpload(upload.id));
  if (!kept) return std::unexpected(NotFound("The upload was ended meanwhile; start a new one"));
  TY_TRY(const UniqueFd folder, OpenBucket(upload.resource.bucket()));
  return PlaceIn(folder.get(), staged, upload.resource, upload.conditions, &upload);
}

Result<v1::Object> BucketFiles::PlaceIn(int folder, StagedFile& staged, v1::Object resource,
                                        const Conditions& when, const UploadRecord* upload, bool moves) {
  TY_RETURN_IF_ERROR(ValidateNewObject(resource));
  const ObjectPath path = EscapeObject(resource.name());
  TY_TRY(const auto present, Find(folder, resource.bucket(), resource.name()));
  const auto size = static_cast<std::int64_t>(staged.size());
  TY_RETURN_IF_ERROR(CheckReplace(when, present));
  if (!moves) TY_RETURN_IF_ERROR(staging_->writes().CheckPlace(staged.id(), SizeOf(present), size));
  const NewVersion version{.generation = NextGeneration(present ? present->resource.generation() : 0),
                           .now = clock_->Now(),
                           .size = staged.size(),
                           .digests = staged.digests()};
  const std::int32_t components = resource.component_count();
  ObjectRecord record{.stamp = {}, .resource = CompleteObject(std::move(resource), version)};
  record.resource.set_component_count(components);
  TY_TRY(record.stamp, staged.Stamp());
  // The new record is written before the rename: after a crash in between, the old file still has its own
  // record. Each file finds its record by its stamp.
  const auto kept = present ? std::optional(present->stamp) : std::nullopt;
  std::optional<UploadRecord> complete;
  if (upload != nullptr) {
    complete = *upload;
    complete->complete = true;
    complete->resource = record.resource;
  }
  TY_RETURN_IF_ERROR(records_.PutObject(record, kept, complete ? &*complete : nullptr));
  TY_RETURN_IF_ERROR(PlaceFile(folder, path, staged.uploads(), staged.id()));
  staged.Keep();
  staging_->writes().Placed(staged.id(), SizeOf(present), size);
  TY_TRY(const UniqueFd file, storage::OpenObject(folder, path));
  TY_TRY(const FileStamp placed, StampOf(file.get()));
  if (placed != record.stamp) {  // it was moved to another file system
    record.stamp = placed;
    TY_RETURN_IF_ERROR(records_.PutObject(record, std::nullopt));
  }
  return record.resource;
}

Result<v1::Object> BucketFiles::Edit(const std::string& bucket, const std::string& object,
                                     const ObjectEdit& edit, const Conditions& when) {
  TY_TRY(OpenedObject opened, OpenObject(bucket, object, when));
  TY_RETURN_IF_ERROR(edit(opened.resource));
  AdvanceMetageneration(opened.resource, clock_->Now());
  TY_RETURN_IF_ERROR(records_.PutObject({.stamp = opened.stamp, .resource = opened.resource}, std::nullopt));
  return std::move(opened.resource);
}

Status BucketFiles::Remove(const std::string& bucket, const std::string& object, const Conditions& when) {
  TY_TRY(const OpenedObject opened, OpenObject(bucket, object, when));
  TY_TRY(const UniqueFd folder, OpenBucket(bucket));
  TY_RETURN_IF_ERROR(RemoveFile(folder.get(), EscapeObject(object)));
  staging_->writes().Removed({.bucket = bucket, .object = object}, SizeOf(opened));
  // A record without a file is never used, so failing to drop it is no error.
  if (const Status dropped = records_.DropObject(bucket, object); !dropped) {
    Diagnose(DiagnosticLevel::kWarning, "an object's record stays behind: " + dropped.error().message);
  }
  return {};
}

}  // namespace trainyard::storage
