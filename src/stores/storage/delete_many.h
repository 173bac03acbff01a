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

/// Some milliseconds that others wait.
inline constexpr std::size_t kDeletedAtOnceMax = 64;

/// Deletes what there is of these objects, at most kDeletedAtOnceMax, many times as fast as one by one; what
/// is gone is durably gone. Loop thread. Errors as Buckets; after one some may be gone.
/// @return how many those were.
boost::asio::awaitable<Result<std::size_t>> DeleteMany(Buckets& buckets, std::string bucket,
                                                       std::vector<std::string> objects);

/// The same on the thread of `files`. Blocks.
[[nodiscard]] Result<std::size_t> RemoveMany(BucketFiles& files, const std::string& bucket,
                                             std::span<const std::string> objects);

}  // namespace trainyard::storage
