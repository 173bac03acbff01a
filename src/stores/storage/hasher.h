#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/on_pool.h"
#include "base/result.h"
#include "stores/storage/bucket_files.h"

namespace trainyard {
class Event;
}

namespace trainyard::storage {

namespace asio = boost::asio;

/// Computes the checksums of files that were not uploaded, and stores them in the records. It has two
/// threads, one for files up to a slice and one for larger ones, slice by slice: uploads and small files
/// never wait for a large one. A call for a large file that is already being read waits for that read. Loop
/// thread; the destructor waits for the slices under way.
class Hasher {
 public:
  /// Both outlive it. @param names_pool  the thread of `names`.
  Hasher(BucketFiles& names, asio::thread_pool& names_pool);
  ~Hasher();

  /// kAborted: the file changed while it was read.
  asio::awaitable<Result<OpenedObject>> WithChecksums(OpenedObject opened);
  /// Computes the checksums of many small files. All or nothing.
  asio::awaitable<Result<std::vector<OpenedObject>>> HashSmall(std::vector<OpenedObject> opened);

  /// The thread for large files, also for copying and joining them in slices.
  [[nodiscard]] asio::thread_pool& large() noexcept { return large_; }

 private:
  using Key = std::tuple<std::string, std::string, std::uint64_t, std::int64_t, std::uint64_t>;
  using Running = std::map<Key, std::shared_ptr<Event>>;
  class Turn;
  static Key KeyOf(const OpenedObject& opened);
  asio::awaitable<Result<OpenedObject>> HashLarge(OpenedObject opened);
  asio::awaitable<Result<std::vector<OpenedObject>>> Keep(std::vector<OpenedObject> hashed);

  BucketFiles& names_;
  asio::thread_pool& names_pool_;
  asio::thread_pool small_{1};
  asio::thread_pool large_{1};
  std::shared_ptr<Running> running_ = std::make_shared<Running>();  // a turn may outlive the hasher
};

/// How many bytes a pool handles in one turn: some tens of milliseconds.
inline constexpr std::uint64_t kSliceBytes = std::uint64_t{32} << 20;

/// Runs `work(offset, length)`, which returns a Status, over `total` bytes: slice by slice; work that others
/// submit to the pool in the meantime runs in between. Ends at the first error, or when the caller is
/// cancelled.
///
/// @param work  copied for each slice: it shares what it needs.
template <class Work>
asio::awaitable<Status> InSlices(asio::thread_pool& pool, std::uint64_t total, Work work) {
  for (std::uint64_t offset = 0; offset < total; offset += kSliceBytes) {
    const std::uint64_t length = std::min(kSliceBytes, total - offset);
    auto slice = [work, offset, length]() mutable -> Status { return work(offset, length); };
    TY_CO_RETURN_IF_ERROR(co_await OnPool(pool, std::move(slice)));
  }
  co_return Status();
}

/// SHA-256 of objects, which the API does not provide: of the version that was opened. Up to kKeptMax results
/// are cached. Loop thread.
class ContentDigests {
 public:
  static constexpr std::size_t kKeptMax = 4096;
  /// Both outlive it.
  struct Pools {
    asio::thread_pool& small;  ///< reads files of up to one slice
    asio::thread_pool& large;  ///< reads larger files slice by slice
  };
  explicit ContentDigests(Pools pools) : pools_(pools) {}

  /// kAborted: the file changed while it was read.
  asio::awaitable<Result<std::string>> Of(OpenedObject opened);

 private:
  using Key = std::tuple<std::string, std::string, std::uint64_t, std::int64_t, std::uint64_t>;

  Pools pools_;
  std::map<Key, std::string> kept_;
};

}  // namespace trainyard::storage
