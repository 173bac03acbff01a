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

/// SHA-256 of objects, which the API does not know: of the version that was opened, read once while it is
/// kept. Loop thread.
class ContentDigests {
 public:
  static constexpr std::size_t kKeptMax = 4096;
  /// Both outlive it.
  struct Pools {
    asio::thread_pool& small;  ///< reads a file of up to a slice
    asio::thread_pool& large;  ///< slice by slice
  };
  explicit ContentDigests(Pools pools) : pools_(pools) {}

  /// kAborted: the file changed while it was read.
  asio::awaitable<Result<std::string>> Of(OpenedObject opened);

 private:
  using Key = std::tuple<std::string, std::string, std::uint64_t, std::int64_t, std::uint64_t>;

  Pools pools_;
  std::map<Key, std::string> kept_;
};

/// Of the object's contents now: 64 lower-case hexadecimal digits. Errors as Buckets::OpenRead; kAborted: it
/// changed while it was read.
asio::awaitable<Result<std::string>> Sha256Of(Buckets& buckets, std::string bucket, std::string object);

}  // namespace trainyard::storage
