#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/async/guarded.h"

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

}  // namespace trainyard::identity
