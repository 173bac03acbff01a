#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// The bucket in which `trainyard run` keeps a project's programs and what they write. Pure: any thread.
namespace trainyard::wire {

inline constexpr std::string_view kRunsSuffix = "-runs";
/// With it a request says which project the bucket has to be of, and is refused if it is not.
inline constexpr std::string_view kBucketProjectField = "X-Trainyard-Bucket-Project";

/// "PROJECT-runs", which is a bucket's name only where PROJECT could begin one.
[[nodiscard]] inline std::string RunsBucketOf(std::string_view project) {
  return std::string(project).append(kRunsSuffix);
}

/// Such a name is one project's alone: whoever else had it would get what that project runs.
/// @return kInvalidArgument: the bucket cannot be made for `project`.
[[nodiscard]] inline Status CheckRunsBucket(std::string_view bucket, std::string_view project) {
  if (!bucket.ends_with(kRunsSuffix) || bucket == RunsBucketOf(project)) return {};
  const std::string owner(bucket.substr(0, bucket.size() - kRunsSuffix.size()));
  return std::unexpected(InvalidArgument(
      "name", "gs://" + std::string(bucket) + " is where `trainyard run` keeps what project " + owner +
                  " runs, so it can be made for that project only: name another bucket"));
}

}  // namespace trainyard::wire
