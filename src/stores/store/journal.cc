#include "stores/store/journal.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/async/on_pool.h"
#include "base/sqlite/full_disk.h"
#include "stores/store/group_commit.h"

namespace trainyard::store {

namespace {

constexpr std::size_t kGroupWritesMax = 512;

struct Write {
  enum class Kind { kCreate, kAppend, kBeginRemoval, kEraseRemoved };
  Kind kind;
  JobRecord record{};
  Event event{};
  std::vector<std::int64_t> uids{};  ///< of a removal
  std::int64_t rows_max = 0;
};

using Writes = GroupCommit<Write, std::int64_t>;

/// The uid, also for an Append.
Result<std::int64_t> Apply(JobStore& store, const Write& write) {
  switch (write.kind) {
    case Write::Kind::kCreate: return store.Create(write.record, write.event);
    case Write::Kind::kBeginRemoval: return store.BeginRemoval(write.uids);
    case Write::Kind::kEraseRemoved: return store.EraseRemoved(write.uids, write.rows_max);
    case Write::Kind::kAppend: break;
  }
  TY_RETURN_IF_ERROR(store.Append(write.record, write.event));
  return write.record.uid();
}

/// Jobs end and go even where the disk is full; a new one has to wait for room.
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

Result<JobPage> Select(JobStore& store, const std::string& project, int page_size, std::string page_token,
                       const Journal::Selection& selection) {
  JobPage selected{.jobs = {}, .next_page_token = std::move(page_token)};
  do {
    const int room = page_size - static_cast<int>(selected.jobs.size());
    TY_TRY(JobPage page, store.List(project, room, selected.next_page_token));
    for (JobRecord& record : page.jobs) {
      if (selection.wanted(record)) selected.jobs.push_back(std::move(record));
    }
    selected.looked_at += room;
    selected.next_page_token = std::move(page.next_page_token);
  } while (std::ssize(selected.jobs) < page_size && !selected.next_page_token.empty() &&
           selected.looked_at < selection.looked_at_max);
  return selected;
}

using Observer = std::function<void(const std::string& project)>;

/// Also after a write that failed: it may be stored all the same.
void SayChanged(const Observer& observer, const std::string& project) {
  if (observer) observer(project);
}

Result<Journal::ChangedJobs> ReadChanged(JobStore& store, const std::string& project,
                                         const std::string& resume_token, int count) {
  TY_TRY(ChangePage page, store.Changed(project, resume_token, count));
  Journal::ChangedJobs changed{.jobs = {}, .resume_token = std::move(page.resume_token), .more = page.more};
  for (JobChange& change : page.changes) {
    auto known = std::ranges::find(changed.jobs, change.job_id, &Journal::ChangedJob::job_id);
    if (known == changed.jobs.end()) {
      Result<JobRecord> job = store.Get(project, change.job_id);
      if (!job && job.error().code != Code::kNotFound) return std::unexpected(std::move(job).error());
      known = changed.jobs.insert(known, {.job_id = change.job_id, .job = {}, .trial_ids = {}});
      if (job) known->job = *std::move(job);
    }
    if (!change.trial_id.empty() && known->job) known->trial_ids.push_back(std::move(change.trial_id));
  }
  return changed;
}

}  // namespace

class Journal::Impl {
 public:
  Impl(asio::io_context& loop, JobStore& writer, JobStore& reader)
      : reader_(reader),
        shared_(&writer == &reader),
        writes_(loop, kGroupWritesMax,
                [&writer](std::span<Write> group) { return CommitGroup(writer, group); }) {}

  ~Impl() { reads_.join(); }

  asio::awaitable<Result<std::int64_t>> Submit(Write write) { return writes_.Submit(std::move(write)); }

  /// If one store is both reader and writer, it may be used by one thread at a time only.
  asio::thread_pool& reads() noexcept { return shared_ ? writes_.thread() : reads_; }
  JobStore& reader() noexcept { return reader_; }

  /// Shared with whoever waits for a write: that may be resumed after the journal's end.
  [[nodiscard]] std::shared_ptr<Observer> observer() const { return observer_; }

 private:
  JobStore& reader_;
  const bool shared_;
  const std::shared_ptr<Observer> observer_ = std::make_shared<Observer>();
  Writes writes_;
  asio::thread_pool reads_{1};
};

Journal::Journal(asio::io_context& loop, JobStore& writer, JobStore& reader)
    : impl_(std::make_unique<Impl>(loop, writer, reader)) {}

Journal::~Journal() = default;

asio::awaitable<Result<std::int64_t>> Journal::Create(JobRecord record, Event created) {
  const auto observer = impl_->observer();
  const std::string project = record.project();
  Write write{.kind = Write::Kind::kCreate, .record = std::move(record), .event = std::move(created)};
  Result<std::int64_t> uid = co_await impl_->Submit(std::move(write));
  SayChanged(*observer, project);
  co_return uid;
}

asio::awaitable<Status> Journal::Append(JobRecord after, Event event) {
  const auto observer = impl_->observer();
  const std::string project = after.project();
  Write write{.kind = Write::Kind::kAppend, .record = std::move(after), .event = std::move(event)};
  Result<std::int64_t> stored = co_await impl_->Submit(std::move(write));
  SayChanged(*observer, project);
  if (!stored) co_return std::unexpected(std::move(stored).error());
  co_return Status{};
}

asio::awaitable<Result<std::int64_t>> Journal::BeginRemoval(std::vector<std::int64_t> uids) {
  const auto observer = impl_->observer();
  Write write{.kind = Write::Kind::kBeginRemoval, .uids = std::move(uids)};
  Result<std::int64_t> begun = co_await impl_->Submit(std::move(write));
  SayChanged(*observer, {});
  co_return begun;
}

asio::awaitable<Result<std::int64_t>> Journal::EraseRemoved(std::vector<std::int64_t> uids,
                                                            std::int64_t rows_max) {
  Write write{.kind = Write::Kind::kEraseRemoved, .uids = std::move(uids), .rows_max = rows_max};
  co_return co_await impl_->Submit(std::move(write));
}

asio::awaitable<Result<std::vector<std::int64_t>>> Journal::Removing(int count) {
  auto read = [&store = impl_->reader(), count] { return store.Removing(count); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<std::vector<FinishedJob>>> Journal::Finished(FinishedQuery query) {
  auto read = [&store = impl_->reader(), query] { return store.Finished(query); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<std::vector<std::string>>> Journal::RecentProjects(int count) {
  auto read = [&store = impl_->reader(), count] { return store.RecentProjects(count); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<JobRecord>> Journal::Get(std::string project, std::string job_id) {
  auto read = [&store = impl_->reader(), project = std::move(project), job_id = std::move(job_id)] {
    return store.Get(project, job_id);
  };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<JobPage>> Journal::List(std::string project, int page_size, std::string page_token) {
  auto read = [&store = impl_->reader(), project = std::move(project), page_size,
               page_token = std::move(page_token)] { return store.List(project, page_size, page_token); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<JobPage>> Journal::List(std::string project, int page_size, std::string page_token,
                                               Selection selection) {
  auto read = [&store = impl_->reader(), project = std::move(project), page_size,
               page_token = std::move(page_token), selection = std::move(selection)] {
    return Select(store, project, page_size, page_token, selection);
  };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<std::vector<JobRecord>>> Journal::Trials(std::int64_t tuning_uid) {
  co_return co_await Trials(tuning_uid, 0, std::numeric_limits<int>::max());
}

asio::awaitable<Result<std::vector<JobRecord>>> Journal::Trials(std::int64_t tuning_uid,
                                                                std::int64_t after_uid, int count) {
  auto read = [&store = impl_->reader(), tuning_uid, after_uid, count] {
    return store.Trials(tuning_uid, after_uid, count);
  };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<Journal::ChangedJobs>> Journal::Changed(std::string project, std::string resume_token,
                                                               int count) {
  auto read = [&store = impl_->reader(), project = std::move(project), resume_token = std::move(resume_token),
               count] { return ReadChanged(store, project, resume_token, count); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<std::string>> Journal::ResumeToken(std::string project) {
  auto read = [&store = impl_->reader(), project = std::move(project)] { return store.ResumeToken(project); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

void Journal::OnChange(std::function<void(const std::string& project)> observer) {
  *impl_->observer() = std::move(observer);
}

asio::awaitable<Result<std::vector<JobRecord>>> Journal::Unfinished() {
  auto read = [&store = impl_->reader()] { return store.Unfinished(); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<std::vector<Event>>> Journal::Events(std::int64_t uid, std::int64_t after_seq) {
  auto read = [&store = impl_->reader(), uid, after_seq] { return store.Events(uid, after_seq); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<std::vector<Event>>> Journal::EventPage(std::int64_t uid, std::int64_t after_seq,
                                                               int count) {
  auto read = [&store = impl_->reader(), uid, after_seq, count] {
    return store.EventPage(uid, after_seq, count);
  };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

asio::awaitable<Result<JobRecord>> Journal::GetTrial(std::string project, std::string job_id,
                                                     std::string trial_id) {
  auto read = [&store = impl_->reader(), project = std::move(project), job_id = std::move(job_id),
               trial_id = std::move(trial_id)] { return store.GetTrial(project, job_id, trial_id); };
  co_return co_await OnPool(impl_->reads(), std::move(read));
}

}  // namespace trainyard::store
