#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "rules/objects/conditions.h"
#include "stores/storage/records.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace boost::asio {
class thread_pool;
}

namespace trainyard::storage {

namespace asio = boost::asio;

class BucketFiles;
class StagedFile;

/// Resumable uploads. Each is a record and a file under DATA/uploads, so it survives a restart. It belongs to
/// one bucket and is not found through another one. It ends with Finish, Cancel, when its bucket is deleted,
/// after kUploadLifetime, or when the project has too many (UnfinishedWrites). Loop thread only.
///
///            Start          Take, Append ...          Finish
///    (none) -------> open <----------------> open ------------> done (returns its object until it expires)
class Uploads {
 public:
  /// All outlive the Uploads.
  struct Pools {
    asio::thread_pool& names;  ///< the thread of BucketFiles
    asio::thread_pool& files;  ///< bytes that come in
    asio::thread_pool& large;  ///< reads whole files, in slices
  };
  Uploads(BucketFiles& names, Pools pools, const Clock& clock);
  ~Uploads();

  /// @param resource, when  as Buckets::BeginWrite.
  /// @param total  total bytes, if the client knows.
  /// @return the upload's id: 32 hexadecimal digits. kResourceExhausted: the project has too many.
  asio::awaitable<Result<std::string>> Start(v1::Object resource, Conditions when,
                                             std::optional<std::uint64_t> total);

  /// The right to append, until another request takes it (a client that lost its connection returns on a new
  /// one).
  struct Turn {
    std::string id;
    std::uint64_t number = 0;
    std::uint64_t received = 0;          ///< bytes that are durable
    std::optional<std::uint64_t> total;  ///< as announced
    bool complete = false;               ///< all bytes are there: call Finish
    bool may_replace = false;            ///< it began with permission to replace an object
    std::optional<v1::Object> done;      ///< set once the upload is finished: the object
  };
  /// kNotFound: no such upload, or it has ended. kUnavailable: bytes of the previous turn are still being
  /// written; try again.
  asio::awaitable<Result<Turn>> Take(std::string id, std::string bucket);
  /// kAborted: another turn was taken. kResourceExhausted: the disk is full; bytes received before are kept.
  asio::awaitable<Status> Append(Turn turn, std::string bytes);
  /// Makes the bytes received so far durable, and returns their number.
  asio::awaitable<Result<std::uint64_t>> Sync(Turn turn);
  /// Makes the object visible. @param sent  md5_hash and crc32c to compare with, or empty. kInvalidArgument:
  /// they differ, and the upload has ended.
  asio::awaitable<Result<v1::Object>> Finish(Turn turn, v1::Object sent);
  asio::awaitable<Status> Cancel(std::string id, std::string bucket);

 private:
  struct Live;
  asio::awaitable<Result<std::optional<StagedFile>>> Reopen(std::string id);
  asio::awaitable<Result<std::shared_ptr<Live>>> Load(std::string id, std::string bucket);
  Result<std::shared_ptr<Live>> Holding(const Turn& turn);
  Status Write(const UploadRecord& record);
  void ForgetIdle();
  asio::awaitable<void> Drop(std::shared_ptr<Live> live);

  BucketFiles& names_;
  Pools pools_;
  const Clock& clock_;
  std::map<std::string, std::shared_ptr<Live>> live_;  // shared with the tasks that write
};

}  // namespace trainyard::storage
