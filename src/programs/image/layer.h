#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace trainyard::image {

/// Unpacks a layer (a tar, plain or compressed with gzip or zstd) into an existing, empty directory, in the
/// form that overlayfs reads (layer_folder.h), and checks its diff_id.
///
/// @return bytes of the files in it. kDataLoss: damaged, or another layer than `diff_id` says.
/// kInvalidArgument: not a tar, or a hostile one: it unpacks to more than unpack_budget.h allows for the
/// blob's size, or has too many files. kResourceExhausted: only the reserve is left on the disk. kCancelled.
/// What was written before an error stays. Blocks; any thread, several layers at a time.
[[nodiscard]] Result<std::int64_t> UnpackLayer(const std::filesystem::path& blob, const std::string& diff_id,
                                               const std::filesystem::path& folder,
                                               const std::stop_token& stop);

}  // namespace trainyard::image
