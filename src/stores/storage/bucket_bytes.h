#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "stores/storage/buckets.h"

namespace trainyard::storage {

/// The sizes of all files of each bucket, in bytes, measured in the directories, because programs write to
/// them without the server. Symbolic links are neither followed nor counted, and nothing outside is reached;
/// files that are deleted meanwhile do not count. Blocking: about a second for a million files. Any thread.
[[nodiscard]] Result<std::map<std::string, std::int64_t>> MeasureBuckets(const BucketOptions& options);

}  // namespace trainyard::storage
