#include "stores/logs/log_tails.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/async/event.h"
#include "base/async/on_pool.h"
#include "base/async/turns.h"
#include "base/wire/json.h"
#include "stores/logs/log_query.h"
#include "stores/logs/tail_reader.h"

namespace trainyard::logs {

namespace {

// Keys of tails that do not wait for a single job. No job has these uids.
constexpr std::int64_t kAnyJob = 0;
constexpr std::int64_t kNewJob = -1;

constexpr std::size_t kReadingsShared = 16;
constexpr std::size_t kJobsSeenMax = 10'000;
// Tails that may read and deliver a batch at the same time; the others wait for their turn, in order.
constexpr std::size_t kTurnsAtOnce = 4;
// How long all tails that wait for the same job may take together, so that many tails do not delay the lines
// that they wait for. Up to 50 tails are served immediately, a thousand five times a second each.
constexpr std::size_t kCrowd = 50;
constexpr std::chrono::microseconds kBatchShare{200};

std::int64_t KeyOf(const TailJob& job) {
  switch (job.kind) {
    case TailJob::Kind::kAny: return kAnyJob;
    case TailJob::Kind::kOne: return job.uid;
    case TailJob::Kind::kNotYet: return kNewJob;
  }
  return kAnyJob;
}

/// A page in the form in which it is sent.
struct PrintedPage {
  std::shared_ptr<const std::string> response;  ///< null without entries
  std::string cursor;                           ///< empty without entries
  TailPosition position;
  bool caught_up = false;
  TailJob job;
};

Result<PrintedPage> ReadAndPrint(TailReader& reader, const LogQuery& query, TailPosition from) {
  TY_TRY(TailPage page, reader.Read(query, from));
  PrintedPage printed{.response = nullptr,
                      .cursor = {},
                      .position = page.position,
                      .caught_up = page.caught_up,
                      .job = page.job};
  if (page.entries.empty()) return printed;
  logging::v2::TailLogEntriesResponse response;
  response.mutable_entries()->Reserve(static_cast<int>(page.entries.size()));
  for (logging::v2::LogEntry& entry : page.entries) *response.add_entries() = std::move(entry);
  printed.response = std::make_shared<const std::string>(wire::PrintJsonCompact(response));
  printed.cursor = reader.Seal(query, page.position);
  return printed;
}

/// A read of the store, running or done, for all tails with the same query and position.
struct Reading {
  Reading(const asio::any_io_executor& executor, std::shared_ptr<const LogQuery> the_query,
          TailPosition the_place, std::uint64_t appends)
      : query(std::move(the_query)), from(the_place), appends_before(appends), done(executor) {}

  const std::shared_ptr<const LogQuery> query;
  const TailPosition from;
  const std::uint64_t appends_before;  ///< lines appended later may be missing in it
  std::optional<Result<PrintedPage>> page;
  Event done;
};

/// Wakes the tails that wait for the read, however it ends.
struct Finish {
  std::shared_ptr<Reading> reading;
  ~Finish() {
    if (!reading->page) reading->page = std::unexpected(Internal("the log was not read"));
    reading->done.Set();
  }
};

}  // namespace

struct LogTails::Impl {
  Impl(asio::any_io_executor the_loop, LogStore& the_store, std::unique_ptr<TailReader> the_reader)
      : loop(std::move(the_loop)), store(the_store), reader(std::move(the_reader)) {
    store.OnAppended(this, [this](std::int64_t job_uid) { Wake(job_uid); });
  }
  ~Impl() {
    store.OnAppended(this, nullptr);
    reads.join();
  }
  void Wake(std::int64_t job_uid);
  void WakeListed(std::int64_t key);
  std::shared_ptr<Reading> FindReading(const LogQuery& query, TailPosition from) const;
  asio::awaitable<Result<PrintedPage>> Read(std::shared_ptr<const LogQuery> query, TailPosition from);

  asio::any_io_executor loop;
  LogStore& store;
  std::unique_ptr<TailReader> reader;                                ///< used on `reads` only
  std::unordered_map<std::int64_t, std::unordered_set<Live*>> live;  ///< by the job that the tail waits for
  std::unordered_set<std::int64_t>
      seen;  ///< jobs with recent lines: not new to tails that wait for a new job
  std::array<std::shared_ptr<Reading>, kReadingsShared> readings;
  std::size_t next_reading = 0;
  std::uint64_t appends = 0;
  Turns turns{loop, kTurnsAtOnce};
  asio::thread_pool reads{1};
};

class LogTails::Live final : public Tail {
 public:
  Live(Impl& tails, std::shared_ptr<const LogQuery> query, TailPosition position)
      : tails_(tails), query_(std::move(query)), position_(position), turn_(tails.turns) {
    tails_.live[key_].insert(this);
  }
  ~Live() override { Unlist(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  void Wake() { turn_.Want(); }

  asio::awaitable<Result<TailBatch>> Next(std::chrono::steady_clock::duration wait_max) override {
    const auto give_up_at = std::chrono::steady_clock::now() + wait_max;
    for (;;) {
      co_await LetOthersPass();
      if (!caught_up_) turn_.Want();
      if (!co_await turn_.WaitFor(give_up_at - std::chrono::steady_clock::now())) co_return TailBatch{};
      const EndOfTurn end{turn_};
      TY_CO_TRY(PrintedPage page, co_await tails_.Read(query_, position_));
      position_ = page.position;
      caught_up_ = page.caught_up;
      ListUnder(KeyOf(page.job));
      if (!page.response) continue;
      last_batch_at_ = std::chrono::steady_clock::now();
      co_return TailBatch{std::move(page.response), std::move(page.cursor), !page.caught_up};
    }
  }

 private:
  struct EndOfTurn {
    Turns::Waiter& turn;
    ~EndOfTurn() { turn.Done(); }
  };

  asio::awaitable<void> LetOthersPass() {
    const std::size_t crowd = tails_.live[key_].size();
    const auto next_at = last_batch_at_ + kBatchShare * crowd;
    const auto now = std::chrono::steady_clock::now();
    if (crowd < kCrowd || now >= next_at) co_return;
    Event never(tails_.loop);
    co_await never.WaitFor(next_at - now);
  }

  void ListUnder(std::int64_t key) {
    if (key_ == key) return;
    // While it was listed under a single job, it may have missed lines of other jobs.
    if (key_ != kAnyJob) caught_up_ = false;
    Unlist();
    key_ = key;
    tails_.live[key_].insert(this);
  }

  void Unlist() {
    const auto listed = tails_.live.find(key_);
    listed->second.erase(this);
    if (listed->second.empty()) tails_.live.erase(listed);
  }

  Impl& tails_;
  const std::shared_ptr<const LogQuery> query_;  ///< shared with a read that outlives a cancelled call
  TailPosition position_;
  bool caught_up_ = false;
  Turns::Waiter turn_;
  std::int64_t key_ = kAnyJob;  ///< the key under which it is listed
  std::chrono::steady_clock::time_point last_batch_at_;
};

void LogTails::Impl::WakeListed(std::int64_t key) {
  const auto listed = live.find(key);
  if (listed == live.end()) return;
  for (Live* tail : listed->second) tail->Wake();
}

void LogTails::Impl::Wake(std::int64_t job_uid) {
  ++appends;
  WakeListed(job_uid);
  WakeListed(kAnyJob);
  if (seen.size() == kJobsSeenMax) seen.clear();
  if (seen.insert(job_uid).second) WakeListed(kNewJob);
}

/// A read whose result is as good as that of a new one, or that has entries.
std::shared_ptr<Reading> LogTails::Impl::FindReading(const LogQuery& query, TailPosition from) const {
  for (const std::shared_ptr<Reading>& reading : readings) {
    if (!reading || reading->from != from || reading->query->page_token_context != query.page_token_context)
      continue;
    const bool failed = reading->page && !*reading->page;
    const bool has_entries = reading->page && *reading->page && (*reading->page)->response;
    if (has_entries || (reading->appends_before == appends && !failed)) return reading;
  }
  return nullptr;
}

asio::awaitable<Result<PrintedPage>> LogTails::Impl::Read(std::shared_ptr<const LogQuery> query,
                                                          TailPosition from) {
  const std::uint64_t appends_now = appends;
  std::shared_ptr<Reading> reading = FindReading(*query, from);
  if (reading != nullptr) {
    co_await reading->done.Wait();
  } else {
    reading = std::make_shared<Reading>(loop, std::move(query), from, appends);
    readings[next_reading++ % kReadingsShared] = reading;
    auto read = [&used = *reader, asked = reading->query, from] { return ReadAndPrint(used, *asked, from); };
    const Finish finish{reading};
    reading->page = co_await OnPool(reads, std::move(read));
  }
  Result<PrintedPage> page = *reading->page;
  if (page && reading->appends_before != appends_now) page->caught_up = false;
  co_return page;
}

LogTails::LogTails(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LogTails::~LogTails() = default;

Result<std::unique_ptr<LogTails>> LogTails::Open(asio::any_io_executor loop, LogStore& store,
                                                 const std::string& path) {
  TY_TRY(std::unique_ptr<TailReader> reader, TailReader::Open(path));
  auto impl = std::make_unique<Impl>(std::move(loop), store, std::move(reader));
  return std::unique_ptr<LogTails>(new LogTails(std::move(impl)));
}

asio::awaitable<Result<std::shared_ptr<Tail>>> LogTails::Start(logging::v2::TailLogEntriesRequest request,
                                                               std::string cursor) {
  TY_CO_TRY(LogQuery parsed, ParseTailQuery(request));
  const auto query = std::make_shared<const LogQuery>(std::move(parsed));
  auto start = [&reader = *impl_->reader, query, cursor = std::move(cursor)] {
    return reader.Start(*query, cursor);
  };
  TY_CO_TRY(const TailPosition position, co_await OnPool(impl_->reads, std::move(start)));
  co_return std::make_shared<Live>(*impl_, query, position);
}

}  // namespace trainyard::logs
