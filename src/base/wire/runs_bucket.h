#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// What `trainyard run` names: the bucket of a project's programs and their output, and the module that a
/// program is run as. Pure: any thread.
namespace trainyard::wire {

inline constexpr std::string_view kRunsSuffix = "-runs";
/// pythonModule of a job that `trainyard run` sent.
inline constexpr std::string_view kProgramModule = "trainyard_program";
/// With this field a request names the project that must own the bucket; it fails if another one does.
inline constexpr std::string_view kBucketProjectField = "X-Trainyard-Bucket-Project";

/// "PROJECT-runs", which is a valid bucket name only if PROJECT could begin one.
[[nodiscard]] inline std::string RunsBucketOf(std::string_view project) {
  return std::string(project).append(kRunsSuffix);
}

/// Reserves such a name for its project: any other owner would receive the programs of that project.
/// @return kInvalidArgument: the bucket cannot be made for `project`.
[[nodiscard]] inline Status CheckRunsBucket(std::string_view bucket, std::string_view project) {
  if (!bucket.ends_with(kRunsSuffix) || bucket == RunsBucketOf(project)) return {};
  const std::string owner(bucket.substr(0, bucket.size() - kRunsSuffix.size()));
  return std::unexpected(InvalidArgument(
      "name", "gs://" + std::string(bucket) + " is where `trainyard run` keeps what project " + owner +
                  " runs, so it can be made for that project only: name another bucket"));
}

}  // namespace trainyard::wire
