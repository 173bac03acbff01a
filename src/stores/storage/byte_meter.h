#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/async/guarded.h"
#include "base/result.h"

namespace trainyard::storage {

struct BucketOptions;

/// The size of the buckets in bytes, and the limit on a project's buckets. What goes through the server is
/// counted immediately, unfinished writes too; what programs write to the directories is counted at the next
/// MeasureBuckets. Before the first measurement only what was written since the start
/// counts. Any thread.
class ByteMeter {
 public:
  /// The limit on a project's bytes.
  struct Limit {
    std::int64_t bytes = 0;
    std::string quota;  ///< the setting it comes from, for messages: "--quota project:p:bucket-bytes=1000"
  };
  /// Both are called on any thread, also the one for names, and must not wait for that one.
  struct Rules {
    std::function<std::string(const std::string& bucket)> project_of;
    std::function<std::optional<Limit>(const std::string& project)> limit_of;
  };
  explicit ByteMeter(Rules rules) : rules_(std::move(rules)) {}

  /// Sets the measured sizes. Buckets that are not in it are empty.
  void Set(std::map<std::string, std::int64_t> bytes);
  void Add(const std::string& bucket, std::int64_t more);
  /// Bytes that are on disk for the bucket, but not in it yet (UnfinishedWrites). Set does not change them.
  void AddUnfinished(const std::string& bucket, std::int64_t more);
  /// kResourceExhausted if the bucket's project would then exceed its limit. Reducing the size is always
  /// allowed.
  [[nodiscard]] Status Check(const std::string& bucket, std::int64_t more) const;
  [[nodiscard]] std::int64_t OfProject(const std::string& project) const;
  [[nodiscard]] std::map<std::string, std::int64_t> ByProject() const;

 private:
  Rules rules_;
  Guarded<std::map<std::string, std::int64_t>> bytes_;       ///< by bucket
  Guarded<std::map<std::string, std::int64_t>> unfinished_;  ///< by bucket
};

/// The sizes of all files of each bucket, in bytes, measured in the directories, because programs write to
/// them without the server. Symbolic links are neither followed nor counted, and nothing outside is reached;
/// files that are deleted meanwhile do not count. Blocking: about a second for a million files. Any thread.
[[nodiscard]] Result<std::map<std::string, std::int64_t>> MeasureBuckets(const BucketOptions& options);

}  // namespace trainyard::storage
