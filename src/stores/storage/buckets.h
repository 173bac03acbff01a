#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/clock.h"
#include "base/result.h"
#include "rules/objects/conditions.h"
#include "stores/storage/byte_meter.h"
#include "stores/storage/resource.h"
#include "stores/storage/unfinished_writes.h"
#include "stores/storage/walk.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace boost::asio {
class thread_pool;
}

namespace trainyard::storage {

namespace asio = boost::asio;

struct BucketOptions;
struct CountedWrite;
class BucketFiles;
class StagedFile;
class Uploads;

/// An object's contents: `file` keeps the contents of this version even if the object is replaced or deleted.
struct ReadableObject {
  v1::Object resource;  ///< without checksums where they are not known yet
  UniqueFd file;        ///< offset 0; resource.size() bytes
};

/// An object being uploaded. If it is destroyed without Buckets::Finish, nothing is left of it. Loop thread
/// only.
class ObjectWriter {
 public:
  ObjectWriter(ObjectWriter&&) noexcept;
  ObjectWriter& operator=(ObjectWriter&&) = delete;
  ~ObjectWriter();

  /// Writes off the loop. Best in pieces of kPieceBytes. kResourceExhausted: the disk is full. One call at a
  /// time.
  asio::awaitable<Status> Append(std::string bytes);
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

 private:
  friend class Buckets;
  ObjectWriter(asio::thread_pool& files, const BucketFiles& names, v1::Object resource, Conditions when,
               CountedWrite write);

  asio::thread_pool* files_;
  const BucketFiles* names_;
  v1::Object resource_;
  Conditions when_;
  UniqueFd bucket_;
  UnfinishedWrites::Counting counting_;
  std::shared_ptr<std::optional<StagedFile>> staged_;  // shared with the task that writes it
};

/// Source and destination of copyTo, rewriteTo and moveTo.
struct Transfer {
  std::string from_bucket;
  std::string from_object;
  Conditions from_when;
  v1::Object to;  ///< bucket, name and, if `replaces_metadata`, the new object's metadata
  bool replaces_metadata = false;
  Conditions to_when;
};

/// One part of a composed object.
struct ComposeSource {
  std::string object;
  Conditions when;
};

/// The location and rules of the buckets.
struct BucketOptions {
  std::filesystem::path data;  ///< contains buckets/, uploads/ and objects.db; created if needed
  bool create_on_use = true;   ///< EnsureBucket creates buckets
  /// Buckets whose directories are elsewhere on the machine, by name: the operator's choice (`--bucket-dir`).
  std::map<std::string, std::filesystem::path> elsewhere = {};
  /// Buckets of the real Cloud Storage (`--real-bucket`): this server does not serve buckets of these names.
  std::set<std::string> real = {};
  std::shared_ptr<ByteMeter> meter = {};  ///< shared with its readers; null: bytes are not counted
  /// The project of a bucket. Called on any thread, must not block; null: all belong to one project.
  std::function<std::string(const std::string& bucket)> project_of = {};
  /// Whether the bucket's disk has space left; called before bytes are written. Called on any thread, must
  /// not block; null: always.
  std::function<Status(const std::string& bucket)> check_space = {};
  const Clock* expiry_clock = nullptr;  ///< for unfinished uploads; null: the general clock
};

/// Buckets and objects: directories and files under DATA/buckets (docs/adr/0003-buckets-are-folders.md). Loop
/// thread only; blocking work goes to the pool `files` (bytes) and to internal threads (names and records,
/// lists, checksums), so that names change one after another, and conditions are checked in the same step as
/// the change.
///
/// Every success is durable. An object appears whole or not at all. Errors: kInvalidArgument (malformed name,
/// checksum that does not match), kNotFound, kFailedPrecondition (a condition does not hold: 412),
/// kAlreadyExists and kAborted (409), kResourceExhausted (the disk is full). The destructor waits for work
/// under way; calls must have ended.
class Buckets {
 public:
  using Options = BucketOptions;
  /// Blocks. Clock and pool must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Buckets>> Open(Options options, const Clock& clock,
                                                             asio::thread_pool& files);
  ~Buckets();

  /// Creates the bucket if it does not exist and the options allow it; otherwise kNotFound with a text that
  /// says what to do.
  asio::awaitable<Result<v1::Bucket>> EnsureBucket(std::string name);
  asio::awaitable<Result<v1::Bucket>> InsertBucket(v1::Bucket bucket);
  /// Whether the bucket exists only because an upload named it: nobody has requested it, edited it or
  /// confirmed it since.
  [[nodiscard]] bool IsByUpload(const std::string& name) const;
  /// From now on IsByUpload is false.
  asio::awaitable<Status> ConfirmBucket(std::string name);
  asio::awaitable<Result<v1::Bucket>> GetBucket(std::string name, Conditions when = {});
  asio::awaitable<Result<v1::Bucket>> EditBucket(std::string name, BucketEdit edit, Conditions when = {});
  /// By name. @param page_token  "" or that of the page before.
  asio::awaitable<Result<v1::Buckets>> ListBuckets(std::string prefix, std::string page_token,
                                                   std::size_t results_max);
  /// All names, in order, from one reading of the directory. Some may not be buckets.
  asio::awaitable<Result<std::vector<std::string>>> BucketNames();
  /// kAborted: not empty.
  asio::awaitable<Status> DeleteBucket(std::string name, Conditions when);

  /// With checksums: a file that changed without the server is read to compute them.
  asio::awaitable<Result<v1::Object>> Stat(std::string bucket, std::string object, Conditions when = {});
  asio::awaitable<Result<ReadableObject>> OpenRead(std::string bucket, std::string object,
                                                   Conditions when = {});
  /// One page in the order of the names' bytes. Checksums of files that the server did not write may be
  /// missing; ListAsKnown computes none.
  asio::awaitable<Result<v1::Objects>> List(std::string bucket, NameQuery query);
  asio::awaitable<Result<v1::Objects>> ListAsKnown(std::string bucket, NameQuery query);
  asio::awaitable<Status> Delete(std::string bucket, std::string object, Conditions when = {});
  /// Changes metadata.
  asio::awaitable<Result<v1::Object>> Edit(std::string bucket, std::string object, ObjectEdit edit,
                                           Conditions when = {});

  /// @param resource  bucket (which is created if needed), name and the fields that a client may set;
  /// md5_hash and crc32c are compared with the received bytes. `when` is checked now and again by Finish.
  asio::awaitable<Result<ObjectWriter>> BeginWrite(v1::Object resource, Conditions when = {});
  /// Makes the object visible, replacing one of the same name.
  asio::awaitable<Result<v1::Object>> Finish(ObjectWriter writer);

  asio::awaitable<Result<v1::Object>> Copy(Transfer transfer);
  /// Renames an object within its bucket.
  asio::awaitable<Result<v1::Object>> Move(Transfer transfer);
  /// @param destination  its checksums are ignored.
  /// @param sources  1 to kComposeSourcesMax.
  asio::awaitable<Result<v1::Object>> Compose(v1::Object destination, std::vector<ComposeSource> sources,
                                              Conditions when, bool deletes_sources);
  static constexpr std::size_t kComposeSourcesMax = 32;

  /// Whether an upload creates its bucket.
  [[nodiscard]] bool creates_on_use() const noexcept;
  /// The pool for bytes, for reading an object piece by piece.
  [[nodiscard]] asio::thread_pool& files() noexcept;
  /// Uploads that survive a lost connection and a restart of the server.
  [[nodiscard]] Uploads& uploads() noexcept;

 private:
  friend asio::awaitable<Result<std::string>> Sha256Of(Buckets&, std::string, std::string);
  friend asio::awaitable<Result<std::size_t>> DeleteMany(Buckets&, std::string, std::vector<std::string>);
  struct State;
  explicit Buckets(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class BucketFiles;
class Buckets;

/// Deleting this many takes some milliseconds, during which other work waits.
inline constexpr std::size_t kDeletedAtOnceMax = 64;

/// Deletes those of these objects that exist, at most kDeletedAtOnceMax, many times as fast as one by one;
/// deletions are durable. Loop thread. Errors as Buckets; after an error some may be deleted.
/// @return how many were deleted.
boost::asio::awaitable<Result<std::size_t>> DeleteMany(Buckets& buckets, std::string bucket,
                                                       std::vector<std::string> objects);

/// The same, on the thread of `files`. Blocks.
[[nodiscard]] Result<std::size_t> RemoveMany(BucketFiles& files, const std::string& bucket,
                                             std::span<const std::string> objects);

/// The digest of the object's present contents: 64 lower-case hexadecimal digits. Errors as
/// Buckets::OpenRead; kAborted: it changed while it was read.
asio::awaitable<Result<std::string>> Sha256Of(Buckets& buckets, std::string bucket, std::string object);

}  // namespace trainyard::storage
