#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/clock.h"
#include "base/result.h"
#include "stores/storage/records.h"
#include "stores/storage/staged_file.h"
#include "stores/storage/unfinished_writes.h"

namespace trainyard::storage {

struct BucketOptions;

/// The files of unfinished writes, DATA/uploads, and how they count in the quota. Functions that take the
/// records: on the thread of BucketFiles, which owns them; the rest on any thread.
class Staging {
 public:
  Staging(const BucketOptions& options, const Clock& clock, UniqueFd folder);

  /// Removes what writes of a previous server left, except resumable uploads that are still valid: they
  /// count.
  /// @param present  the bytes of the object that has the upload's name.
  [[nodiscard]] Status Sweep(Records& records,
                             const std::function<std::int64_t(const v1::Object& object)>& present);
  /// Removes a resumable upload, or all of a bucket's.
  [[nodiscard]] Status End(Records& records, const std::string& id);
  [[nodiscard]] Status EndAllOf(Records& records, const std::string& bucket);

  [[nodiscard]] Status CheckSpace(const std::string& bucket) const;
  /// Call before `bytes` are written to this staged file: is there space on the disk and in the quota?
  [[nodiscard]] Status Grow(const std::string& id, const std::string& bucket, std::uint64_t bytes);
  /// Grow, then writes the bytes.
  [[nodiscard]] Status Append(StagedFile& staged, const std::string& bucket, std::string_view bytes);

  [[nodiscard]] UnfinishedWrites& writes() noexcept { return writes_; }
  [[nodiscard]] int folder() const noexcept { return folder_.get(); }

 private:
  const Clock* clock_;
  std::function<Status(const std::string& bucket)> check_space_;
  UniqueFd folder_;
  UnfinishedWrites writes_;
};

/// Names in a directory, in order, without "." and "..".
[[nodiscard]] Result<std::vector<std::string>> NamesIn(int folder);

}  // namespace trainyard::storage
