#include "control/notices/notifier.h"

#include <algorithm>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/text/number.h"
#include "base/wire/time.h"

namespace trainyard::control {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr int kEndedMax = 100;  ///< in one read
/// A busy server writes all the time: its writes are looked at this often.
constexpr milliseconds kReadEvery{200};
constexpr milliseconds kRetryAfter{1'000};
/// A clock that is set does not delay a letter by more.
constexpr std::chrono::seconds kSleepMax{60};

std::string Named(const notices::Letter& letter) {
  return "the notice " + letter.notice_id + " of " + letter.job + " for '" + letter.destination + "'";
}

}  // namespace

Notifier::Notifier(Dependencies parts)
    : parts_(std::move(parts)), changed_(parts_.loop), tasks_(parts_.loop) {
  observing_ = parts_.journal.OnChange([this](const std::string&) { changed_.Set(); });
  for (const notices::Destination& destination : parts_.destinations)
    tasks_.Spawn(DeliverTo(routes_.emplace_back(destination, parts_.loop)));
  tasks_.Spawn(ReadHistory());
  if (parts_.long_wait) tasks_.Spawn(LookForWaits());
}

asio::awaitable<void> Notifier::ReadHistory() {
  std::optional<std::int64_t> last_read;
  for (;;) {
    changed_.Reset();
    Status read;
    bool more = false;
    if (!last_read) {
      const Result<std::int64_t> begin = co_await WhereToBegin();
      if (begin) last_read = *begin;
      if (!begin) read = std::unexpected(begin.error());
    }
    if (last_read) {
      const Result<bool> some = co_await ReadSome(*last_read);
      if (!some) read = std::unexpected(some.error());
      more = some && *some;
    }
    if (!read)
      reading_.Say(DiagnosticLevel::kError,
                   "notices of jobs that ended are delayed: " + read.error().message);
    if (read && !more) co_await changed_.Wait();
    if (!more) co_await Pause(read ? kReadEvery : kRetryAfter);
  }
}

/// The history so far is passed over the first time. A database that was restored has smaller numbers.
asio::awaitable<Result<std::int64_t>> Notifier::WhereToBegin() {
  TY_CO_TRY(const std::optional<std::int64_t> noted,
            co_await OnPool(files_, [&outbox = parts_.outbox] { return outbox.LastRead(); }));
  TY_CO_TRY(const std::int64_t last,
            co_await parts_.journal.Read([](store::JobStore& store) { return store.LastChangeNumber(); }));
  if (noted && *noted <= last) co_return *noted;
  TY_CO_RETURN_IF_ERROR(
      co_await OnPool(files_, [&outbox = parts_.outbox, last] { return outbox.BeginAt(last); }));
  co_return last;
}

/// Whether there may be more.
asio::awaitable<Result<bool>> Notifier::ReadSome(std::int64_t& last_read) {
  TY_CO_TRY(const std::vector<store::EndedJob> ended,
            co_await parts_.journal.Read(
                [from = last_read](store::JobStore& store) { return store.EndedSince(from, kEndedMax); }));
  if (ended.empty()) co_return false;
  std::vector<notices::Posting> postings;
  for (const store::EndedJob& each : ended) {
    const std::optional<notices::Event> event = notices::EndOf(each.job);
    const SysTime end = wire::FromProto(each.job.job().end_time());
    if (event && parts_.clock.Now() - end <= kTellWithin) postings.push_back(MakePosting(each.job, *event));
  }
  TY_CO_RETURN_IF_ERROR(co_await Post(std::move(postings), ended.back().change));
  last_read = ended.back().change;
  co_return std::ssize(ended) == kEndedMax;
}

asio::awaitable<void> Notifier::LookForWaits() {
  for (;;) {
    std::set<std::int64_t> still_waiting;
    std::vector<v1::JobRecord> new_ones;
    const SysTime now = parts_.clock.Now();
    parts_.jobs.ForEachUnfinished([&](const v1::JobRecord& job) {
      const std::optional<SysTime> long_at = notices::LongWaitAt(job, *parts_.long_wait);
      if (!long_at || *long_at > now) return;
      if (told_.contains(job.uid()))
        still_waiting.insert(job.uid());
      else
        new_ones.push_back(job);
    });
    told_ = std::move(still_waiting);
    const Status told = co_await TellWaits(std::move(new_ones));
    if (!told)
      looking_.Say(DiagnosticLevel::kError,
                   "notices of jobs that wait long are delayed: " + told.error().message);
    co_await Pause(std::clamp<milliseconds>(*parts_.long_wait, kRetryAfter, kLookEvery));
  }
}

asio::awaitable<Status> Notifier::TellWaits(std::vector<v1::JobRecord> waiting) {
  std::vector<notices::Posting> postings;
  for (const v1::JobRecord& job : waiting) {
    const Result<v1::JobStatus> status =
        co_await parts_.jobs.Describe({.project = job.project(), .job_id = job.job().job_id()});
    const std::string why = status ? status->waiting().reason() : "";
    postings.push_back(MakePosting(job, notices::Event::kWaiting, why));
  }
  if (!postings.empty()) TY_CO_RETURN_IF_ERROR(co_await Post(std::move(postings), std::nullopt));
  for (const v1::JobRecord& job : waiting) told_.insert(job.uid());
  co_return Status{};
}

notices::Posting Notifier::MakePosting(const v1::JobRecord& job, notices::Event event,
                                       const std::string& why_waiting) const {
  const notices::Notice notice = notices::Compose(job, event, parts_.server_url, why_waiting);
  const SysTime now = parts_.clock.Now();
  notices::Posting posting{.notice_id = notice.id, .time = now, .letters = {}};
  for (const notices::Destination& destination : parts_.destinations) {
    if (!notices::IsWanted(destination, job, event)) continue;
    posting.letters.push_back({.destination = destination.name,
                               .notice_id = notice.id,
                               .job = notice.job,
                               .subject = notice.subject,
                               .text = notice.text,
                               .json = notice.json,
                               .created = now,
                               .due = now});
  }
  return posting;
}

asio::awaitable<Status> Notifier::Post(std::vector<notices::Posting> postings,
                                       std::optional<std::int64_t> last_read) {
  TY_CO_TRY(const std::int64_t dropped,
            co_await OnPool(files_, [&outbox = parts_.outbox, postings = std::move(postings), last_read] {
              return outbox.Post(postings, last_read);
            }));
  counts_.given_up += dropped;
  if (dropped > 0)
    Diagnose(DiagnosticLevel::kError, "dropped " + text::Counted(dropped, "notice") +
                                          " of jobs: " + std::to_string(notices::Outbox::kLettersMax) +
                                          " others are not delivered yet");
  for (Route& route : routes_) route.posted.Set();
  co_return Status{};
}

asio::awaitable<void> Notifier::DeliverTo(Route& route) {
  Trouble trouble;
  for (;;) {
    route.posted.Reset();
    const Result<std::optional<SysTime>> due = co_await DeliverNext(route.destination);
    if (!due) {
      trouble.Say(DiagnosticLevel::kError,
                  "notices for '" + route.destination.name + "' are delayed: " + due.error().message);
      co_await Pause(kRetryAfter);
    } else if (!*due) {
      co_await route.posted.Wait();
    } else if (const SysTime now = parts_.clock.Now(); **due > now) {
      co_await route.posted.WaitFor(std::min<std::chrono::nanoseconds>(**due - now, kSleepMax));
    }
  }
}

/// When to look again: at once after a try; nothing: when something was posted. Errors: of the outbox.
asio::awaitable<Result<std::optional<SysTime>>> Notifier::DeliverNext(
    const notices::Destination& destination) {
  notices::Outbox& outbox = parts_.outbox;
  TY_CO_TRY(const std::optional<notices::Letter> letter,
            co_await OnPool(files_, [&] { return outbox.Next(destination.name); }));
  if (!letter || letter->due > parts_.clock.Now())
    co_return letter ? std::optional(letter->due) : std::nullopt;
  const Status sent =
      co_await OnPool(senders_, [&]() -> Status { return parts_.deliver(destination, *letter); });
  const SysTime now = parts_.clock.Now();
  std::optional<SysTime> again;
  ++(sent ? counts_.delivered : counts_.failed);
  if (!sent) {
    again = notices::NextTry(letter->tries + 1, letter->created, now);
    const std::string why = " could not be delivered: " + sent.error().message;
    if (!again) ++counts_.given_up;
    if (!again)
      Diagnose(DiagnosticLevel::kError, Named(*letter) + why + ". It is given up after " +
                                            std::to_string(letter->tries + 1) + " tries");
    else
      Diagnose(letter->tries == 0 ? DiagnosticLevel::kWarning : DiagnosticLevel::kDebug,
               Named(*letter) + why + ". It is tried again for " +
                   std::to_string(notices::kDeliverFor.count()) + " hours");
  }
  TY_CO_RETURN_IF_ERROR(co_await OnPool(files_, [&]() -> Status {
    return again ? outbox.Postpone(letter->number, *again) : outbox.Remove(letter->number);
  }));
  co_return now;
}

}  // namespace trainyard::control
