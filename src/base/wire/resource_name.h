#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// Parses resource names; no other code does. Pure: any thread.
namespace trainyard::wire {

/// "projects/p" -> "p". kInvalidArgument with field "parent" if it has another shape. Source: discovery,
/// `projects/[^/]+`.
[[nodiscard]] Result<std::string> ParseProjectName(std::string_view name);

/// "projects/PROJECT/jobs/JOB". Checks only that both parts exist, not that the id is valid for a job.
struct JobName {
  std::string project;
  std::string job_id;

  /// kInvalidArgument with field "name". Source: discovery, `projects/[^/]+/jobs/[^/]+`.
  [[nodiscard]] static Result<JobName> Parse(std::string_view name);
  [[nodiscard]] std::string ToString() const;
  friend bool operator==(const JobName&, const JobName&) = default;
};

/// "gs://BUCKET/OBJECT". The object may be empty ("gs://b", "gs://b/") and keeps its slashes, including a
/// trailing one.
struct ObjectUri {
  std::string bucket;
  std::string object;

  /// kInvalidArgument without a field (the caller knows which): not gs://, no or a malformed bucket name (3
  /// to 63 characters of [a-z0-9._-], first and last a letter or digit; up to 222 with dots), an object name
  /// over 1024 bytes, with a line end, NUL or malformed UTF-8. Source: Cloud Storage's naming rules.
  [[nodiscard]] static Result<ObjectUri> Parse(std::string_view uri);
  [[nodiscard]] std::string ToString() const;
  friend bool operator==(const ObjectUri&, const ObjectUri&) = default;
};

/// Only the bucket rule of ObjectUri: kInvalidArgument without a field.
[[nodiscard]] Status ValidateBucketName(std::string_view bucket);
/// Only the object rule of ObjectUri; an empty name is an error.
[[nodiscard]] Status ValidateObjectName(std::string_view object);

}  // namespace trainyard::wire
