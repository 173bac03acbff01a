#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/guarded.h"
#include "trainyard/iam/v1/policy.pb.h"

namespace trainyard::identity {

/// The project that each bucket belongs to. Any thread: bytes are counted on the threads that write objects.
class BucketProjects {
 public:
  /// @param default_project  the project of buckets for which none was recorded.
  explicit BucketProjects(std::string default_project) : default_project_(std::move(default_project)) {}

  [[nodiscard]] const std::string& default_project() const noexcept { return default_project_; }
  [[nodiscard]] std::string Of(std::string_view bucket) const;
  /// All projects that were recorded.
  [[nodiscard]] std::set<std::string, std::less<>> Recorded() const;
  /// @param project  nothing: the bucket was deleted.
  void Set(const std::string& bucket, std::optional<std::string> project);

 private:
  const std::string default_project_;
  Guarded<std::map<std::string, std::string, std::less<>>> projects_;  ///< by bucket
};

/// The policy of a bucket for which none was set: as Google gives a new bucket, the rights of its project's
/// basic roles. Owner and editor: everything in it; viewer: reading. With the etag of iam::NoPolicy. Pure:
/// any thread. Source: spec access.md section 9; the public page "IAM roles for Cloud Storage", section on
/// basic roles.
[[nodiscard]] iam::v1::Policy BucketDefault(std::string_view project);

}  // namespace trainyard::identity
