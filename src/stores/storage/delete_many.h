#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::storage {

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

}  // namespace trainyard::storage
