#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "stores/storage/bucket_files.h"

namespace trainyard::storage {

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

/// The digest of the object's present contents: 64 lower-case hexadecimal digits. Errors as
/// Buckets::OpenRead; kAborted: it changed while it was read.
asio::awaitable<Result<std::string>> Sha256Of(Buckets& buckets, std::string bucket, std::string object);

}  // namespace trainyard::storage
