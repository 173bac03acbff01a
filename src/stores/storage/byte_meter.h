#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/async/guarded.h"
#include "base/result.h"

namespace trainyard::storage {

/// What the buckets hold, in bytes, and how much a project may keep in its buckets. What goes through the
/// server is counted at once, unfinished writes too; what programs write to the directories when
/// MeasureBuckets looks (bucket_bytes.h). Until it has looked for the first time only what was written since
/// counts. Any thread.
class ByteMeter {
 public:
  /// How much a project may keep.
  struct Limit {
    std::int64_t bytes = 0;
    std::string quota;  ///< what says so, for messages: "--quota project:p:bucket-bytes=1000"
  };
  /// Both are called on any thread, also the one for names: they must not wait for it.
  struct Rules {
    std::function<std::string(const std::string& bucket)> project_of;
    std::function<std::optional<Limit>(const std::string& project)> limit_of;
  };
  explicit ByteMeter(Rules rules) : rules_(std::move(rules)) {}

  /// As measured. Buckets that are not in it hold nothing.
  void Set(std::map<std::string, std::int64_t> bytes);
  void Add(const std::string& bucket, std::int64_t more);
  /// Bytes that are on disk for the bucket, but not in it yet (UnfinishedWrites). Set leaves them.
  void AddUnfinished(const std::string& bucket, std::int64_t more);
  /// kResourceExhausted if the bucket's project would then keep more than it may. Who shrinks may always.
  [[nodiscard]] Status Check(const std::string& bucket, std::int64_t more) const;
  [[nodiscard]] std::int64_t OfProject(const std::string& project) const;
  [[nodiscard]] std::map<std::string, std::int64_t> ByProject() const;

 private:
  Rules rules_;
  Guarded<std::map<std::string, std::int64_t>> bytes_;       ///< by bucket
  Guarded<std::map<std::string, std::int64_t>> unfinished_;  ///< by bucket
};

}  // namespace trainyard::storage
