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
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/guarded.h"
#include "base/async/unique_fd.h"
#include "base/clock.h"
#include "base/result.h"
#include "stores/storage/byte_meter.h"
#include "stores/storage/records.h"
#include "stores/storage/staged_file.h"

namespace trainyard::storage {

/// The unfinished writes: the bytes of each in DATA/uploads, which count in the quota of the bucket's
/// project, and how many resumable uploads a project has. For one name, the larger of the object and its
/// unfinished replacements counts, so that an object can be replaced although the quota is full, and never
/// more than twice the quota is on disk. Knows names only, no files. Any thread.
class UnfinishedWrites {
 public:
  /// Resumable uploads that a project may have at a time.
  static constexpr std::size_t kUploadsMax = 1000;
  /// At that limit, the upload that was idle for longest is ended, if it was idle for this long.
  static constexpr std::chrono::hours kIdle{1};

  struct Rules {
    std::shared_ptr<ByteMeter> meter{};                                ///< null: no quota limits bytes
    std::function<std::string(const std::string& bucket)> project_of;  ///< null: all belong to one project
  };
  explicit UnfinishedWrites(Rules rules) : rules_(std::move(rules)) {}

  /// The destination of a write.
  struct Target {
    std::string bucket;
    std::string object;
    auto operator<=>(const Target&) const = default;
  };
  /// A write of one request: its destructor ends the write.
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
  /// Registers a resumable upload of a previous server.
  void Restore(const std::string& id, Target target, std::int64_t present, std::int64_t bytes,
               SysTime last_used);
  /// Registers a new resumable upload. @return the one that the caller must end instead. kResourceExhausted:
  /// the project has kUploadsMax and none is idle.
  [[nodiscard]] Result<std::optional<std::string>> BeginUpload(const std::string& id, Target target,
                                                               std::int64_t present, SysTime now);
  /// Call before bytes are written, or with a negative number if they could not be written.
  /// kResourceExhausted: the quota. kAborted: the write has ended.
  [[nodiscard]] Status Grow(const std::string& id, std::int64_t more, SysTime now);
  /// Checks the quota for an object of `size` bytes. The bytes that the write already has are not taken for
  /// granted: a previous server's uploads can exceed the quota. kResourceExhausted: the quota. kAborted: the
  /// write has ended.
  [[nodiscard]] Status CheckPlace(const std::string& id, std::int64_t present, std::int64_t size);
  /// The write has become the object, which is counted instead.
  void Placed(const std::string& id, std::int64_t present, std::int64_t size);
  /// The object of that name was deleted; unfinished replacements count fully from now on.
  void Removed(const Target& target, std::int64_t size);
  /// The write's bytes were removed. Ending it twice is no error.
  void End(const std::string& id);

 private:
  struct Write {
    Target target;
    std::int64_t bytes = 0;
    bool is_upload = false;
    SysTime last_used{};
  };
  /// All unfinished writes to one name.
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
  /// Both update the counts by the difference.
  void Change(State& state, const Target& target, const std::function<void(Replacing&)>& change) const;
  void Add(State& state, const std::string& id, Write write, std::int64_t present) const;
  void Erase(State& state, std::map<std::string, Write>::iterator write) const;

  Rules rules_;
  Guarded<State> state_;
};

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

}  // namespace trainyard::storage
