#include "stores/storage/unfinished_writes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/async/beneath.h"
#include "stores/storage/buckets.h"

namespace trainyard::storage {
namespace {

std::unexpected<Error> HasEnded() {
  return std::unexpected(Aborted("the upload has ended; start a new one"));
}

std::unexpected<Error> Failed(std::string_view what) { return std::unexpected(ErrnoError(errno, what)); }

}  // namespace

std::string UnfinishedWrites::ProjectOf(const std::string& bucket) const {
  return rules_.project_of ? rules_.project_of(bucket) : std::string();
}

void UnfinishedWrites::Change(State& state, const Target& target,
                              const std::function<void(Replacing&)>& change) const {
  Replacing& replacing = state.replacing[target];
  const std::int64_t counted = replacing.counted();
  change(replacing);
  if (rules_.meter) rules_.meter->AddUnfinished(target.bucket, replacing.counted() - counted);
  if (replacing.writes == 0) state.replacing.erase(target);
}

void UnfinishedWrites::Add(State& state, const std::string& id, Write write, std::int64_t present) const {
  Change(state, write.target, [&write, present](Replacing& replacing) {
    replacing.present = present;
    replacing.bytes += write.bytes;
    ++replacing.writes;
  });
  state.writes.emplace(id, std::move(write));
}

void UnfinishedWrites::Erase(State& state, std::map<std::string, Write>::iterator write) const {
  Change(state, write->second.target, [bytes = write->second.bytes](Replacing& replacing) {
    replacing.bytes -= bytes;
    --replacing.writes;
  });
  state.writes.erase(write);
}

UnfinishedWrites::Counting UnfinishedWrites::Begin(std::string id, Target target, std::int64_t present) {
  state_.With([&](State& state) { Add(state, id, {.target = std::move(target)}, present); });
  return {*this, std::move(id)};
}

void UnfinishedWrites::Restore(const std::string& id, Target target, std::int64_t present, std::int64_t bytes,
                               SysTime last_used) {
  Write write{.target = std::move(target), .bytes = bytes, .is_upload = true, .last_used = last_used};
  state_.With([&](State& state) { Add(state, id, std::move(write), present); });
}

Result<std::optional<std::string>> UnfinishedWrites::BeginUpload(const std::string& id, Target target,
                                                                 std::int64_t present, SysTime now) {
  const std::string project = ProjectOf(target.bucket);
  return state_.With([&](State& state) -> Result<std::optional<std::string>> {
    auto& writes = state.writes;
    std::size_t count = 0;
    auto oldest = writes.end();
    for (auto each = writes.begin(); writes.size() >= kUploadsMax && each != writes.end(); ++each) {
      if (!each->second.is_upload || ProjectOf(each->second.target.bucket) != project) continue;
      ++count;
      if (oldest == writes.end() || each->second.last_used < oldest->second.last_used) oldest = each;
    }
    std::optional<std::string> gives_way;
    if (count >= kUploadsMax) {
      if (now - oldest->second.last_used < kIdle) {
        return std::unexpected(ResourceExhausted(
            "Project " + project + " has " + std::to_string(count) +
            " unfinished resumable uploads, and may have " + std::to_string(kUploadsMax) +
            ". Finish or cancel some, then begin this one again. At the limit, one that got no "
            "request for an hour is ended in favour of a new one."));
      }
      gives_way = oldest->first;
    }
    Add(state, id, {.target = std::move(target), .is_upload = true, .last_used = now}, present);
    return gives_way;
  });
}

Status UnfinishedWrites::Grow(const std::string& id, std::int64_t more, SysTime now) {
  return state_.With([&](State& state) -> Status {
    const auto found = state.writes.find(id);
    if (found == state.writes.end()) return HasEnded();
    Write& write = found->second;
    Replacing grown = state.replacing[write.target];
    const std::int64_t counted = grown.counted();
    grown.bytes += more;
    if (rules_.meter) TY_RETURN_IF_ERROR(rules_.meter->Check(write.target.bucket, grown.counted() - counted));
    Change(state, write.target, [&grown](Replacing& replacing) { replacing = grown; });
    write.bytes += more;
    write.last_used = now;
    return {};
  });
}

Status UnfinishedWrites::CheckPlace(const std::string& id, std::int64_t present, std::int64_t size) {
  return state_.With([&](State& state) -> Status {
    const auto found = state.writes.find(id);
    if (found == state.writes.end()) return HasEnded();
    const Write& write = found->second;
    // It counts until it is placed, so that no other write takes its space meanwhile.
    const auto add = [&](std::int64_t bytes) {
      Change(state, write.target, [bytes](Replacing& replacing) { replacing.bytes += bytes; });
    };
    Change(state, write.target, [present](Replacing& replacing) { replacing.present = present; });
    add(-write.bytes);
    Status fits = rules_.meter ? rules_.meter->Check(write.target.bucket, size - present) : Status();
    add(write.bytes);
    return fits;
  });
}

void UnfinishedWrites::Placed(const std::string& id, std::int64_t present, std::int64_t size) {
  state_.With([&](State& state) {
    const auto found = state.writes.find(id);
    if (found == state.writes.end()) return;
    const Target target = found->second.target;
    if (rules_.meter) rules_.meter->Add(target.bucket, size - present);
    Change(state, target, [size](Replacing& replacing) { replacing.present = size; });
    Erase(state, found);
  });
}

void UnfinishedWrites::Removed(const Target& target, std::int64_t size) {
  state_.With([&](State& state) {
    if (rules_.meter) rules_.meter->Add(target.bucket, -size);
    Change(state, target, [](Replacing& replacing) { replacing.present = 0; });
  });
}

void UnfinishedWrites::End(const std::string& id) {
  state_.With([&](State& state) {
    const auto found = state.writes.find(id);
    if (found != state.writes.end()) Erase(state, found);
  });
}

Staging::Staging(const BucketOptions& options, const Clock& clock, UniqueFd folder)
    : clock_(options.expiry_clock != nullptr ? options.expiry_clock : &clock),
      check_space_(options.check_space),
      folder_(std::move(folder)),
      writes_({.meter = options.meter, .project_of = options.project_of}) {}

Status Staging::Sweep(Records& records,
                      const std::function<std::int64_t(const v1::Object& object)>& present) {
  TY_TRY(const auto expired, records.ExpiredUploads(clock_->Now().time_since_epoch().count()));
  for (const std::string& id : expired) TY_RETURN_IF_ERROR(records.DropUpload(id));
  TY_TRY(const auto names, NamesIn(folder()));
  for (const std::string& name : names) {
    TY_TRY(const auto upload, records.FindUpload(name));
    struct stat status{};
    if (!upload && ::unlinkat(folder(), name.c_str(), 0) != 0) return Failed("remove " + name);
    if (!upload || ::fstatat(folder(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    writes_.Restore(name, {.bucket = upload->resource.bucket(), .object = upload->resource.name()},
                    present(upload->resource), status.st_size,
                    SysTime(std::chrono::seconds(status.st_mtim.tv_sec)));
  }
  return {};
}

Status Staging::End(Records& records, const std::string& id) {
  writes_.End(id);
  ::unlinkat(folder(), id.c_str(), 0);
  return records.DropUpload(id);
}

Status Staging::EndAllOf(Records& records, const std::string& bucket) {
  TY_TRY(const auto ids, records.UploadsOf(bucket));
  for (const std::string& id : ids) {
    writes_.End(id);
    ::unlinkat(folder(), id.c_str(), 0);
  }
  return records.DropUploadsOf(bucket);
}

Status Staging::CheckSpace(const std::string& bucket) const {
  return check_space_ ? check_space_(bucket) : Status();
}

Status Staging::Grow(const std::string& id, const std::string& bucket, std::uint64_t bytes) {
  if (bytes > 0) TY_RETURN_IF_ERROR(CheckSpace(bucket));
  return writes_.Grow(id, static_cast<std::int64_t>(bytes), clock_->Now());
}

Status Staging::Append(StagedFile& staged, const std::string& bucket, std::string_view bytes) {
  TY_RETURN_IF_ERROR(Grow(staged.id(), bucket, bytes.size()));
  Status appended = staged.Append(bytes);
  if (appended) return appended;
  const auto none = -static_cast<std::int64_t>(bytes.size());
  [[maybe_unused]] const Status counted = writes_.Grow(staged.id(), none, clock_->Now());
  return appended;
}

}  // namespace trainyard::storage
