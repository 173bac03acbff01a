#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "base/result.h"
#include "stores/storage/byte_meter.h"

namespace trainyard::storage {

/// The writes under way: the bytes that each holds in DATA/uploads, which count in the quota of the bucket's
/// project, and how many resumable uploads a project has. An object and all that is to replace it count as
/// the larger of both, so that what fills a quota can be replaced, and what is on disk is never more than
/// twice the quota. Knows names only, no files. Any thread.
class UnfinishedWrites {
 public:
  /// Resumable uploads that a project may have at a time.
  static constexpr std::size_t kUploadsMax = 1000;
  /// At that limit, the upload that was idle for longest gives way, if it was for this long.
  static constexpr std::chrono::hours kIdle{1};

  struct Rules {
    std::shared_ptr<ByteMeter> meter{};                                ///< null: no quota limits bytes
    std::function<std::string(const std::string& bucket)> project_of;  ///< null: all are one project's
  };
  explicit UnfinishedWrites(Rules rules) : rules_(std::move(rules)) {}

  /// Where a write goes.
  struct Target {
    std::string bucket;
    std::string object;
    auto operator<=>(const Target&) const = default;
  };
  /// A write of one request: it ends with this.
  class Counting {
   public:
    Counting(UnfinishedWrites& writes, std::string id) : writes_(&writes), id_(std::move(id)) {}
    Counting(Counting&& other) noexcept
        : writes_(std::exchange(other.writes_, nullptr)), id_(std::move(other.id_)) {}
    Counting& operator=(Counting&&) = delete;
    ~Counting() {
      if (writes_ != nullptr) writes_->End(id_);
    }
    [[nodiscard]] const std::string& id() const noexcept { return id_; }

   private:
    UnfinishedWrites* writes_;
    std::string id_;
  };
  /// `present`, here and below: the bytes of the object that has the target's name now.
  [[nodiscard]] Counting Begin(std::string id, Target target, std::int64_t present);
  /// A resumable upload of an earlier server.
  void Restore(const std::string& id, Target target, std::int64_t present, std::int64_t bytes,
               SysTime last_used);
  /// A new resumable upload. @return the one that gives way, for the caller to end. kResourceExhausted: the
  /// project has kUploadsMax and none is idle.
  [[nodiscard]] Result<std::optional<std::string>> BeginUpload(const std::string& id, Target target,
                                                               std::int64_t present, SysTime now);
  /// Before bytes are written, or, with fewer than none, where they could not be. kResourceExhausted: the
  /// quota. kAborted: the write has ended.
  [[nodiscard]] Status Grow(const std::string& id, std::int64_t more, SysTime now);
  /// May it become an object of `size` bytes? It may not count on what it held: an earlier server's uploads
  /// can be more than the quota allows. kResourceExhausted: the quota. kAborted: the write has ended.
  [[nodiscard]] Status CheckPlace(const std::string& id, std::int64_t present, std::int64_t size);
  /// It has become the object, which counts in its place.
  void Placed(const std::string& id, std::int64_t present, std::int64_t size);
  /// The object of that name is gone; what was to replace it counts from now on.
  void Removed(const Target& target, std::int64_t size);
  /// Its bytes are gone. Ending it twice is no error.
  void End(const std::string& id);

 private:
  struct Write {
    Target target;
    std::int64_t bytes = 0;
    bool is_upload = false;
    SysTime last_used{};
  };
  /// All the writes to one name.
  struct Replacing {
    std::int64_t present = 0;
    std::int64_t bytes = 0;
    std::size_t writes = 0;
    [[nodiscard]] std::int64_t counted() const { return std::max<std::int64_t>(bytes - present, 0); }
  };
  struct State {
    std::map<std::string, Write> writes;  ///< by id
    std::map<Target, Replacing> replacing;
  };
  [[nodiscard]] std::string ProjectOf(const std::string& bucket) const;
  /// Both count the difference.
  void Change(State& state, const Target& target, const std::function<void(Replacing&)>& change) const;
  void Add(State& state, const std::string& id, Write write, std::int64_t present) const;
  void Erase(State& state, std::map<std::string, Write>::iterator write) const;

  Rules rules_;
  Guarded<State> state_;
};

}  // namespace trainyard::storage
