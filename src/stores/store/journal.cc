#include "stores/store/journal.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/sqlite/full_disk.h"
#include "stores/store/group_commit.h"

namespace trainyard::store {

namespace {

constexpr std::size_t kGroupWritesMax = 512;

struct Write {
  enum class Kind { kCreate, kAppend, kBeginRemoval, kEraseRemoved };
  Kind kind;
  JobRecord record{};
  std::vector<Event> events{};
  std::vector<std::int64_t> uids{};  ///< of a removal
  std::int64_t rows_max = 0;
};

using Writes = GroupCommit<Write, std::int64_t>;

/// The uid, also for an Append.
Result<std::int64_t> Apply(JobStore& store, const Write& write) {
  switch (write.kind) {
    case Write::Kind::kCreate: return store.Create(write.record, write.events);
    case Write::Kind::kBeginRemoval: return store.BeginRemoval(write.uids);
    case Write::Kind::kEraseRemoved: return store.EraseRemoved(write.uids, write.rows_max);
    case Write::Kind::kAppend: break;
  }
  TY_RETURN_IF_ERROR(store.Append(write.record, write.events));
  return write.record.uid();
}

/// Jobs end and are removed even if the disk is full; creating one must wait for space.
bool MakesRoom(std::span<const Write> group) {
  return std::ranges::none_of(group, [](const Write& write) { return write.kind == Write::Kind::kCreate; });
}

Writes::Results CommitGroup(JobStore& store, std::span<Write> group) {
  std::optional<sqlite::MayMakeRoom> room;
  if (MakesRoom(group)) room.emplace();
  Status status = store.Begin();
  Writes::Results results;
  if (status) {
    results.reserve(group.size());
    for (const Write& write : group) results.push_back(Apply(store, write));
    status = store.Commit();
  }
  // Nothing of the group is stored, so an "already exists" or "stale" of one of its writes may be wrong too.
  if (!status) results.assign(group.size(), std::unexpected(status.error()));
  return results;
}

using Observers = std::vector<std::weak_ptr<const Journal::Observer>>;

/// Also after a failed write: it may have been stored nevertheless.
void SayChanged(const Observers& observers, const std::string& project) {
  for (const auto& each : observers)
    if (const auto observer = each.lock()) (*observer)(project);
}

}  // namespace

class Journal::Impl {
 public:
  Impl(asio::io_context& loop, JobStore& writer, JobStore& reader)
      : last_uid_(writer.LastUid()),
        reader_(reader),
        shared_(&writer == &reader),
        writes_(loop, kGroupWritesMax,
                [&writer](std::span<Write> group) { return CommitGroup(writer, group); }) {}

  ~Impl() { reads_.join(); }

  Result<std::int64_t> NextUid() {
    if (last_uid_) ++*last_uid_;
    return last_uid_;
  }

  asio::awaitable<Result<std::int64_t>> Submit(Write write) { return writes_.Submit(std::move(write)); }

  /// If one store is both reader and writer, it may be used by one thread at a time only.
  asio::thread_pool& reads() noexcept { return shared_ ? writes_.thread() : reads_; }
  JobStore& reader() noexcept { return reader_; }

  /// Shared with the callers that wait for a write: they may be resumed after the journal is destroyed.
  [[nodiscard]] std::shared_ptr<Observers> observers() const { return observers_; }

 private:
  Result<std::int64_t> last_uid_;
  JobStore& reader_;
  const bool shared_;
  const std::shared_ptr<Observers> observers_ = std::make_shared<Observers>();
  Writes writes_;
  asio::thread_pool reads_{1};
};

Journal::Journal(asio::io_context& loop, JobStore& writer, JobStore& reader)
    : impl_(std::make_unique<Impl>(loop, writer, reader)) {}

Journal::~Journal() = default;

Result<std::int64_t> Journal::NextUid() { return impl_->NextUid(); }

asio::awaitable<Result<std::int64_t>> Journal::Create(JobRecord record, std::vector<Event> events) {
  const auto observers = impl_->observers();
  const std::string project = record.project();
  Write write{.kind = Write::Kind::kCreate, .record = std::move(record), .events = std::move(events)};
  Result<std::int64_t> uid = co_await impl_->Submit(std::move(write));
  SayChanged(*observers, project);
  co_return uid;
}

asio::awaitable<Status> Journal::Append(JobRecord after, std::vector<Event> events) {
  const auto observers = impl_->observers();
  const std::string project = after.project();
  Write write{.kind = Write::Kind::kAppend, .record = std::move(after), .events = std::move(events)};
  Result<std::int64_t> stored = co_await impl_->Submit(std::move(write));
  SayChanged(*observers, project);
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return Status{};
}

asio::awaitable<Result<std::int64_t>> Journal::BeginRemoval(std::vector<std::int64_t> uids) {
  const auto observers = impl_->observers();
  Write write{.kind = Write::Kind::kBeginRemoval, .uids = std::move(uids)};
  Result<std::int64_t> begun = co_await impl_->Submit(std::move(write));
  SayChanged(*observers, {});
  co_return begun;
}

asio::awaitable<Result<std::int64_t>> Journal::EraseRemoved(std::vector<std::int64_t> uids,
                                                            std::int64_t rows_max) {
  Write write{.kind = Write::Kind::kEraseRemoved, .uids = std::move(uids), .rows_max = rows_max};
  co_return co_await impl_->Submit(std::move(write));
}

std::shared_ptr<const Journal::Observer> Journal::OnChange(Observer observer) {
  auto kept = std::make_shared<const Observer>(std::move(observer));
  std::erase_if(*impl_->observers(), [](const auto& each) { return each.expired(); });
  impl_->observers()->push_back(kept);
  return kept;
}

asio::thread_pool& Journal::reads() noexcept { return impl_->reads(); }
JobStore& Journal::reader() noexcept { return impl_->reader(); }

}  // namespace trainyard::store
