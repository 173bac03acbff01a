#include "storage/bucket_files.h"

#include <dirent.h>
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

#include "async/diagnostics.h"
#include "async/file.h"
#include "storage/beneath.h"
#include "storage/folder.h"
#include "storage/path_escape.h"
#include "storage/resource.h"
#include "wire/resource_name.h"

namespace trainyard::storage {

Status CheckSpace(const BucketOptions& options, const std::string& bucket) {
  return options.check_space ? options.check_space(bucket) : Status();
}

namespace {

std::unexpected<Error> Failed(std::string_view what) { return std::unexpected(ErrnoError(errno, what)); }

std::unexpected<Error> NoSuchBucket(const std::string& name) {
  return std::unexpected(NotFound("The specified bucket does not exist: " + name +
                                  ". A bucket of the real Cloud Storage is read with `trainyard serve "
                                  "--real-bucket " +
                                  name + "`"));
}

std::int64_t SizeOf(const OpenedObject& object) { return static_cast<std::int64_t>(object.stamp.size); }

/// Before any of its bytes comes.
Status CheckNew(const BucketOptions& options, const v1::Object& resource) {
  TY_RETURN_IF_ERROR(ValidateNewObject(resource));
  return CheckSpace(options, resource.bucket());
}

/// Whether what is there may be replaced by `size` bytes.
Status CheckReplace(const BucketOptions& options, const Conditions& when, const std::string& bucket,
                    const std::optional<OpenedObject>& present, std::uint64_t size) {
  TY_RETURN_IF_ERROR(
      CheckConditions(when, present ? std::optional(VersionOf(present->resource)) : std::nullopt));
  if (!options.meter) return {};
  return options.meter->Check(bucket, static_cast<std::int64_t>(size) - (present ? SizeOf(*present) : 0));
}

void CountBytes(const std::shared_ptr<ByteMeter>& meter, const std::string& bucket, std::int64_t more) {
  if (meter) meter->Add(bucket, more);
}

std::unexpected<Error> NoSuchObject(const std::string& bucket, const std::string& object) {
  return std::unexpected(NotFound("No such object: " + bucket + "/" + object));
}

Result<UniqueFd> OpenFolder(const std::filesystem::path& folder) {
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  return OpenFile(folder, O_RDONLY | O_DIRECTORY);
}

std::unexpected<Error> IsReal(const std::string& name) {
  return std::unexpected(Error{Code::kPermissionDenied,
                               "gs://" + name +
                                   " is a bucket of the real Cloud Storage (--real-bucket), which cannot be "
                                   "reached in this way; a copy between it and a bucket of this server is up "
                                   "to the client",
                               {}});
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

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

/// Names in a directory, without "." and "..".
Result<std::vector<std::string>> NamesIn(int folder) {
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseDirectory> directory(own ? ::fdopendir(own.get()) : nullptr);
  if (!directory) return Failed("read a folder");
  [[maybe_unused]] const int closed_by_closedir = own.Release();
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(directory.get()); errno = 0) {
    if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..")
      names.emplace_back(entry->d_name);
  }
  if (errno != 0) return Failed("read a folder");
  std::ranges::sort(names);
  return names;
}

/// Removes what uploads of a previous server left, except resumable ones that are still valid.
Status SweepUploads(Records& records, int uploads, SysTime now) {
  TY_TRY(const auto expired, records.ExpiredUploads(now.time_since_epoch().count()));
  for (const std::string& id : expired) TY_RETURN_IF_ERROR(records.DropUpload(id));
  TY_TRY(const auto names, NamesIn(uploads));
  for (const std::string& name : names) {
    TY_TRY(const auto upload, records.FindUpload(name));
    if (!upload && ::unlinkat(uploads, name.c_str(), 0) != 0) return Failed("remove " + name);
  }
  return {};
}

}  // namespace

bool HasChecksums(const v1::Object& resource) { return !resource.md5_hash().empty(); }

BucketFiles::BucketFiles(const BucketOptions& options, const Clock& clock, UniqueFd buckets, UniqueFd uploads,
                         Records records)
    : options_(options),
      clock_(&clock),
      buckets_(std::move(buckets)),
      uploads_(std::move(uploads)),
      records_(std::move(records)) {}

Result<BucketFiles> BucketFiles::Open(const BucketOptions& options, const Clock& clock) {
  TY_TRY(UniqueFd buckets, OpenFolder(options.data / "buckets"));
  TY_TRY(UniqueFd uploads, OpenFolder(options.data / "uploads"));
  TY_TRY(Records records, Records::Open(options.data / "objects.db"));
  BucketFiles files(options, clock, std::move(buckets), std::move(uploads), std::move(records));
  TY_RETURN_IF_ERROR(files.OpenElsewhere());
  TY_RETURN_IF_ERROR(SweepUploads(files.records(), files.uploads(), clock.Now()));
  return files;
}

Status BucketFiles::OpenElsewhere() {
  for (const auto& [name, path] : options_.elsewhere) {
    TY_TRY(UniqueFd folder, OpenBucketElsewhere(options_.data, path));
    // The empty directory of that name is where replicas see it, below /gcs.
    if (::mkdirat(buckets_.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST)
      return Failed("make the folder " + name);
    const auto own = OpenFolderBeneath(buckets_.get(), std::span(&name, 1));
    if (!own)
      return std::unexpected(FailedPrecondition("DATA/buckets/" + name + " is no folder; remove it first"));
    TY_TRY(const auto inside, NamesIn(own->get()));
    if (!inside.empty()) {
      return std::unexpected(FailedPrecondition("the bucket " + name + " has files in DATA/buckets/" + name +
                                                " already; move them to " + path.string() + " first"));
    }
    elsewhere_.emplace(name, std::move(folder));
  }
  return {};
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
  TY_TRY(const FileStamp stamp, StampOf(folder));  // made by hand
  v1::Bucket bucket;
  bucket.set_name(name);
  CompleteBucket(bucket, SysTime(std::chrono::nanoseconds(stamp.mtime_ns)));
  return bucket;
}

Result<v1::Bucket> BucketFiles::InsertBucket(v1::Bucket bucket) {
  DropNeutral(bucket);
  TY_RETURN_IF_ERROR(ValidateNewBucket(bucket));
  if (options_.real.contains(bucket.name())) return IsReal(bucket.name());
  if (OpenBucket(bucket.name())) {
    return std::unexpected(Error{Code::kAlreadyExists, "You already own this bucket: " + bucket.name(), {}});
  }
  struct stat present{};
  if (::fstatat(buckets_.get(), bucket.name().c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0) {
    return std::unexpected(Error{Code::kAlreadyExists,
                                 "The name " + bucket.name() +
                                     " is taken by a file or a link in the buckets' folder, which is no "
                                     "bucket; remove it there",
                                 {}});
  }
  CompleteBucket(bucket, clock_->Now());
  // The record first: a record without a directory is not a bucket, and the next insert replaces it.
  TY_RETURN_IF_ERROR(records_.PutBucket(bucket));
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
    return InsertBucket(std::move(bucket));
  }
  return std::unexpected(
      NotFound("The specified bucket does not exist: " + name +
               ". This server does not make buckets on first use; make it with `gcloud storage buckets "
               "create gs://" +
               name + "`"));
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
  TY_RETURN_IF_ERROR(records_.PutBucket(changed));
  return changed;
}

Result<std::vector<std::string>> BucketFiles::BucketNames(std::string_view prefix) const {
  TY_TRY(std::vector<std::string> names, NamesIn(buckets_.get()));
  for (const auto& [name, folder] : elsewhere_)
    names.push_back(name);  // a program may have removed its place
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
    if (!folder) continue;  // a file, a link, or gone
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
  if (!elsewhere_.contains(name)) return {};
  return std::unexpected(
      Error{Code::kAborted,
            "The bucket " + name +
                " is a folder elsewhere on the server's machine; it goes when the server is "
                "started without its --bucket-dir",
            {}});
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
  return std::unexpected(Error{Code::kAborted, "The bucket you tried to delete is not empty", {}});
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
    if (one) found.push_back(std::move(one->resource));  // else it went away in the meantime
  }
  return found;
}

Status BucketFiles::CheckWritable(const v1::Object& resource, const Conditions& when) {
  TY_RETURN_IF_ERROR(CheckNew(options_, resource));
  TY_RETURN_IF_ERROR(EnsureBucket(resource.bucket()));
  TY_TRY(const UniqueFd folder, OpenBucket(resource.bucket()));
  TY_TRY(const auto present, Find(folder.get(), resource.bucket(), resource.name()));
  return CheckReplace(options_, when, resource.bucket(), present, 1);  // Place knows how many
}

Result<v1::Object> BucketFiles::Place(StagedFile& staged, v1::Object resource, const Conditions& when,
                                      const UploadRecord* upload) {
  TY_RETURN_IF_ERROR(ValidateNewObject(resource));
  const ObjectPath path = EscapeObject(resource.name());
  TY_TRY(const UniqueFd folder, OpenBucket(resource.bucket()));
  TY_TRY(const auto present, Find(folder.get(), resource.bucket(), resource.name()));
  TY_RETURN_IF_ERROR(CheckReplace(options_, when, resource.bucket(), present, staged.size()));
  const NewVersion version{.generation = NextGeneration(present ? present->resource.generation() : 0),
                           .now = clock_->Now(),
                           .size = staged.size(),
                           .digests = staged.digests()};
  const std::int32_t components = resource.component_count();
  ObjectRecord record{.stamp = {}, .resource = CompleteObject(std::move(resource), version)};
  record.resource.set_component_count(components);
  TY_TRY(record.stamp, staged.Stamp());
  // The new record before the rename: a crash between leaves the old file with its own record. Each file
  // finds its record by its stamp.
  const auto kept = present ? std::optional(present->stamp) : std::nullopt;
  std::optional<UploadRecord> complete;
  if (upload != nullptr) {
    complete = *upload;
    complete->complete = true;
    complete->resource = record.resource;
  }
  TY_RETURN_IF_ERROR(records_.PutObject(record, kept, complete ? &*complete : nullptr));
  TY_RETURN_IF_ERROR(PlaceFile(folder.get(), path, staged.uploads(), staged.id()));
  staged.Keep();
  const std::int64_t before = present ? SizeOf(*present) : 0;
  CountBytes(options_.meter, record.resource.bucket(), static_cast<std::int64_t>(staged.size()) - before);
  TY_TRY(const UniqueFd file, storage::OpenObject(folder.get(), path));
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
  CountBytes(options_.meter, bucket, -SizeOf(opened));
  // A record without a file is never used, so failing to drop it is no error.
  if (const Status dropped = records_.DropObject(bucket, object); !dropped) {
    Diagnose(DiagnosticLevel::kWarning, "an object's record stays behind: " + dropped.error().message);
  }
  return {};
}

}  // namespace trainyard::storage
