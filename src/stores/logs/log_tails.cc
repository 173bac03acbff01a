#include "stores/logs/log_tails.h"

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/async/on_pool.h"
#include "base/async/turns.h"
#include "base/wire/json.h"
#include "stores/logs/log_query.h"
#include "stores/logs/tail_reader.h"
#include "stores/logs/tail_rounds.h"

namespace trainyard::logs {

namespace {

// Keys of tails that do not wait for a single job. No job has these uids.
constexpr std::int64_t kAnyJob = 0;
constexpr std::int64_t kNewJob = -1;

constexpr std::size_t kReadingsShared = 16;
constexpr std::size_t kJobsSeenMax = 10'000;
// Tails that may read and deliver a batch at the same time; the others wait for their turn, in order.
constexpr std::size_t kTurnsAtOnce = 4;
// Up to so many tails of the same job are served immediately, more in rounds: many tails must not delay the
// lines that they wait for.
constexpr std::size_t kCrowd = 50;
// A tail of a crowd that has fallen behind waits for this long, times the crowd's size, between two batches:
// in a crowd of a thousand it gets five a second.
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
  bool caught_up = false;  ///< nothing more was stored when it was read
  TailJob job;
  bool is_old = false;  ///< lines were appended since then
};

Result<PrintedPage> ReadAndPrint(TailReader& reader, const LogQuery& query, TailPosition from,
                                 std::optional<TailPosition> until) {
  TY_TRY(TailPage page, reader.Read(query, from, until));
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

/// What a tail wants to read.
struct Wanted {
  std::shared_ptr<const LogQuery> query;
  TailPosition from;
  std::uint64_t round = 0;            ///< 0: it is read outside of rounds
  std::optional<TailPosition> until;  ///< where the round ends, once that is known
};

/// A read of the store, running or done, for all tails with the same query and position.
struct Reading {
  Reading(const asio::any_io_executor& executor, Wanted what, std::uint64_t appends)
      : wanted(std::move(what)), appends_before(appends), done(executor) {}

  /// Whether its result is as good as that of a new read. All tails of a round get the same lines, so that
  /// they stay together; outside of rounds, lines that are there are as good as more lines.
  [[nodiscard]] bool Serves(const Wanted& other, std::uint64_t appends_now) const {
    if (wanted.from != other.from || wanted.query->page_token_context != other.query->page_token_context ||
        (page && !*page))
      return false;
    if (other.round != 0 && wanted.round == other.round) return true;
    const bool is_new = appends_before == appends_now && !wanted.until;
    return is_new || (other.round == 0 && page && (*page)->response);
  }

  const Wanted wanted;
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

/// The tails that wait for the same job. All members are at the loop's thread.
struct LogTails::Crowd {
  explicit Crowd(const asio::any_io_executor& executor) : pause(executor) {}

  [[nodiscard]] bool is_large() const noexcept { return members.size() >= kCrowd; }

  std::unordered_set<Live*> members;
  TailRounds rounds;
  std::uint64_t round = 0;          ///< the present or last one
  TailPosition lead;                ///< of the tails that were furthest when it began
  std::optional<TailPosition> end;  ///< up to where they read
  asio::steady_timer pause;         ///< runs until the next round
};

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
  std::shared_ptr<Crowd> CrowdOf(std::int64_t key);
  /// Begins a round if one is due, or sets the timer for it.
  void StepRounds(const std::shared_ptr<Crowd>& crowd);
  std::shared_ptr<Reading> FindReading(const Wanted& wanted) const;
  asio::awaitable<Result<PrintedPage>> Read(Wanted wanted);

  asio::any_io_executor loop;
  LogStore& store;
  std::unique_ptr<TailReader> reader;                               ///< used on `reads` only
  std::unordered_map<std::int64_t, std::shared_ptr<Crowd>> crowds;  ///< by the job that they wait for
  std::unordered_set<std::int64_t>
      seen;  ///< jobs with recent lines: not new to tails that wait for a new job
  std::array<std::shared_ptr<Reading>, kReadingsShared> readings;
  std::size_t next_reading = 0;
  std::uint64_t appends = 0;
  std::uint64_t readings_made = 0;
  std::uint64_t rounds_begun = 0;
  Turns turns{loop, kTurnsAtOnce};
  Turns turns_behind{loop, 1};  ///< of tails that have fallen behind: others do not wait for their reads
  asio::thread_pool reads{1};
};

class LogTails::Live final : public Tail {
 public:
  Live(Impl& tails, std::shared_ptr<const LogQuery> query, TailPosition position)
      : tails_(tails),
        query_(std::move(query)),
        position_(position),
        turn_(tails.turns),
        turn_behind_(tails.turns_behind),
        crowd_(tails.CrowdOf(key_)) {
    crowd_->members.insert(this);
    is_behind_ = crowd_->is_large();  // what the filter asks for may be long ago
  }
  ~Live() override { Unlist(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  /// There are lines for it. In a large crowd the next round serves it.
  void Want() {
    wants_round_ = !is_behind_ && crowd_->is_large();
    if (wants_round_) return crowd_->rounds.Want();
    (is_behind_ ? turn_behind_ : turn_).Want();
  }

  /// Whether the round that begins serves it: not if it still sends.
  [[nodiscard]] bool may_join_round() const noexcept { return wants_round_ && is_waiting_; }
  void JoinRound() {
    wants_round_ = false;
    is_in_round_ = true;
    turn_.Want();
  }
  [[nodiscard]] const TailPosition& position() const noexcept { return position_; }

  asio::awaitable<Result<TailBatch>> Next(std::chrono::steady_clock::duration wait_max) override {
    const auto give_up_at = std::chrono::steady_clock::now() + wait_max;
    for (;;) {
      co_await LetOthersPass();
      const Waiting waiting{*this};
      if (!caught_up_ || wants_round_) Want();
      tails_.StepRounds(crowd_);
      Turns::Waiter& turn = is_behind_ ? turn_behind_ : turn_;
      if (!co_await turn.WaitFor(give_up_at - std::chrono::steady_clock::now())) co_return TailBatch{};
      const EndOfTurn end{turn};
      if (IsAheadOfRound()) {
        caught_up_ = false;
        continue;
      }
      TY_CO_TRY(PrintedPage page, co_await tails_.Read(Wish()));
      Take(page);
      if (!page.response) continue;
      last_batch_at_ = std::chrono::steady_clock::now();
      co_return TailBatch{std::move(page.response), std::move(page.cursor), !caught_up_};
    }
  }

 private:
  struct EndOfTurn {
    Turns::Waiter& turn;
    ~EndOfTurn() { turn.Done(); }
  };
  /// Until it is served, or gives up.
  struct Waiting {
    Live& tail;
    explicit Waiting(Live& used) : tail(used) { tail.is_waiting_ = true; }
    ~Waiting() {
      tail.is_waiting_ = false;
      tail.LeaveRound();
    }
  };

  /// What is read for it after its turn in a round goes no further than what was read for the round's first.
  [[nodiscard]] Wanted Wish() const {
    Wanted wish{.query = query_, .from = position_, .until = {}};
    if (is_in_round_) {
      wish.round = crowd_->round;
      wish.until = crowd_->end;
    }
    return wish;
  }
  [[nodiscard]] bool IsAheadOfRound() const {
    return is_in_round_ && crowd_->end && crowd_->end->IsBefore(position_);
  }

  void Take(const PrintedPage& page) {
    const bool leads = is_in_round_ && position_ == crowd_->lead;
    position_ = page.position;
    caught_up_ = page.caught_up && !page.is_old;
    if (leads && !crowd_->end) crowd_->end = position_;
    const bool is_with_others = is_in_round_ && crowd_->end == position_;
    ListUnder(KeyOf(page.job));
    is_behind_ = !page.caught_up && !is_with_others && crowd_->is_large();
  }

  void LeaveRound() {
    if (!std::exchange(is_in_round_, false)) return;
    crowd_->rounds.Leave(std::chrono::steady_clock::now());
    tails_.StepRounds(crowd_);
  }

  asio::awaitable<void> LetOthersPass() {
    const auto next_at = last_batch_at_ + kBatchShare * crowd_->members.size();
    const auto now = std::chrono::steady_clock::now();
    if (!is_behind_ || now >= next_at) co_return;
    Event never(tails_.loop);
    co_await never.WaitFor(next_at - now);
  }

  void ListUnder(std::int64_t key) {
    if (key_ == key) return;
    // While it was listed under a single job, it may have missed lines of other jobs.
    if (key_ != kAnyJob) caught_up_ = false;
    Unlist();
    key_ = key;
    crowd_ = tails_.CrowdOf(key_);
    crowd_->members.insert(this);
  }

  void Unlist() {
    crowd_->members.erase(this);
    LeaveRound();
    if (crowd_->members.empty()) tails_.crowds.erase(key_);
  }

  Impl& tails_;
  const std::shared_ptr<const LogQuery> query_;  ///< shared with a read that outlives a cancelled call
  TailPosition position_;
  bool caught_up_ = false;
  bool is_behind_ = false;  ///< reads on its own, until it has caught up with the crowd
  bool is_waiting_ = false;
  bool wants_round_ = false;
  bool is_in_round_ = false;
  Turns::Waiter turn_;
  Turns::Waiter turn_behind_;
  std::int64_t key_ = kAnyJob;  ///< the key under which it is listed
  std::shared_ptr<Crowd> crowd_;
  std::chrono::steady_clock::time_point last_batch_at_;
};

std::shared_ptr<LogTails::Crowd> LogTails::Impl::CrowdOf(std::int64_t key) {
  std::shared_ptr<Crowd>& crowd = crowds[key];
  if (!crowd) crowd = std::make_shared<Crowd>(loop);
  return crowd;
}

void LogTails::Impl::StepRounds(const std::shared_ptr<Crowd>& crowd) {
  if (!crowd->rounds.due()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < crowd->rounds.pause_end()) {
    if (crowd->pause.expiry() == crowd->rounds.pause_end()) return;
    crowd->pause.expires_at(crowd->rounds.pause_end());
    crowd->pause.async_wait(
        [this, alive = std::weak_ptr<Crowd>(crowd)](const boost::system::error_code& end) {
          if (const std::shared_ptr<Crowd> still = alive.lock(); still && !end) StepRounds(still);
        });
    return;
  }
  std::vector<Live*> joining;
  std::ranges::copy_if(crowd->members, std::back_inserter(joining), &Live::may_join_round);
  // The tails that are furthest come first, since they decide how far the others read.
  std::ranges::sort(joining,
                    [](const Live* a, const Live* b) { return b->position().IsBefore(a->position()); });
  crowd->rounds.Begin(joining.size(), crowd->members.size());
  crowd->round = ++rounds_begun;
  if (!joining.empty()) crowd->lead = joining.front()->position();
  crowd->end.reset();
  for (Live* tail : joining) tail->JoinRound();
}

void LogTails::Impl::WakeListed(std::int64_t key) {
  const auto listed = crowds.find(key);
  if (listed == crowds.end()) return;
  for (Live* tail : listed->second->members) tail->Want();
  StepRounds(listed->second);
}

void LogTails::Impl::Wake(std::int64_t job_uid) {
  ++appends;
  WakeListed(job_uid);
  WakeListed(kAnyJob);
  if (seen.size() == kJobsSeenMax) seen.clear();
  if (seen.insert(job_uid).second) WakeListed(kNewJob);
}

std::shared_ptr<Reading> LogTails::Impl::FindReading(const Wanted& wanted) const {
  for (const std::shared_ptr<Reading>& reading : readings) {
    if (reading && reading->Serves(wanted, appends)) return reading;
  }
  return nullptr;
}

asio::awaitable<Result<PrintedPage>> LogTails::Impl::Read(Wanted wanted) {
  const std::uint64_t appends_now = appends;
  std::shared_ptr<Reading> reading = FindReading(wanted);
  if (reading != nullptr) {
    co_await reading->done.Wait();
  } else {
    reading = std::make_shared<Reading>(loop, std::move(wanted), appends);
    readings[next_reading++ % kReadingsShared] = reading;
    ++readings_made;
    auto read = [&used = *reader, asked = reading->wanted] {
      return ReadAndPrint(used, *asked.query, asked.from, asked.until);
    };
    const Finish finish{reading};
    reading->page = co_await OnPool(reads, std::move(read));
  }
  Result<PrintedPage> page = *reading->page;
  if (page && reading->appends_before != appends_now) page->is_old = true;
  co_return page;
}

LogTails::LogTails(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LogTails::~LogTails() = default;

std::uint64_t LogTails::readings() const noexcept { return impl_->readings_made; }

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
