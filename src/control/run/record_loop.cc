#include "control/run/record_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/wire/time.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {

namespace {

/// How long an end waits for its lines before other events (a cancel, a patch) get their turn.
constexpr std::chrono::milliseconds kFlushWaitMax{200};

}  // namespace

boost::asio::awaitable<Status> RecordLoop::Post(v1::Event event, std::optional<std::int64_t> revision) {
  const auto posted = std::make_shared<Posted>(outside_.loop, std::move(event), revision);
  posted_.push_back(posted);
  wake_.Set();
  co_await posted->done.Wait();
  co_return posted->status;
}

boost::asio::awaitable<Status> RecordLoop::RecordPosted(Posted& posted) {
  if (posted.revision && *posted.revision != job().revision())
    co_return std::unexpected(Aborted("the job has changed"));
  const bool is_late = job().job().has_end_time() || job().job().state() == ml::v1::Job::CANCELLING;
  if (posted.event.has_cancel_requested() && is_late) co_return Status{};
  co_return co_await Append(std::move(posted.event));
}

boost::asio::awaitable<Status> RecordLoop::Record(v1::Event event) {
  Status recorded = co_await Append(std::move(event));
  if (!recorded)
    recording_.Say(
        DiagnosticLevel::kWarning,
        "job " + job().job().job_id() + " cannot be recorded, trying again: " + recorded.error().message);
  co_return recorded;
}

boost::asio::awaitable<void> RecordLoop::Run(
    std::function<bool()> is_over,
    std::function<boost::asio::awaitable<Turn>(const v1::JobRecord& job, SysTime now)> take_turn) {
  while (!is_over() || !posted_.empty()) {
    wake_.Reset();
    if (!posted_.empty()) {
      const std::shared_ptr<Posted> posted = std::move(posted_.front());
      posted_.pop_front();
      posted->status = co_await RecordPosted(*posted);
      posted->done.Set();
      continue;
    }
    const SysTime now = outside_.clock.Now();
    const std::optional<v1::JobRecord> moved = jobs::WithoutJumps(job(), outside_.jumped_since);
    const Turn turn = co_await take_turn(moved ? *moved : job(), now);
    if (turn.performed) continue;
    if (turn.wake_time) {
      co_await wake_.WaitFor(std::max(*turn.wake_time - now, std::chrono::nanoseconds{0}));
    } else {
      co_await wake_.Wait();
    }
  }
}

void RecordLoop::SayAgain(std::vector<jobs::ServiceLine> lines) {
  service_log_.Say(job_, std::move(lines), outside_.clock.Now());
}

boost::asio::awaitable<Status> RecordLoop::Append(v1::Event event) {
  event.set_seq(job_.revision() + 1);
  *event.mutable_time() = wire::ToProto(outside_.clock.Now());
  TY_CO_TRY(v1::JobRecord after, jobs::Apply(job_, event));
  if (event.has_ended()) TY_CO_RETURN_IF_ERROR(co_await SayEnd(after, event));
  Status stored = co_await outside_.journal.Append(after, event);
  if (!stored && stored.error().code == Code::kAborted) co_await CatchUp();
  if (!stored) co_return stored;
  TakeEffect(std::move(after), event);
  co_return Status{};
}

/// The lines of Ended are durable before the event is: clients stop reading the log when they see endTime.
/// They are written once, however often the event has to be recorded.
boost::asio::awaitable<Status> RecordLoop::SayEnd(v1::JobRecord after, v1::Event event) {
  if (!std::exchange(end_said_, true))
    service_log_.Say(after, jobs::LinesFor(after, event), outside_.clock.Now());
  if (co_await service_log_.Flush(kFlushWaitMax)) co_return Status{};
  co_return std::unexpected(Unavailable("its log cannot be written"));
}

/// Loads events from the store that this object does not know: a write was reported as failed but succeeded.
boost::asio::awaitable<void> RecordLoop::CatchUp() {
  Result<std::vector<v1::Event>> events = co_await outside_.journal.Read(
      [uid = job_.uid(), seq = job_.revision()](store::JobStore& jobs) { return jobs.Events(uid, seq); });
  if (!events) co_return;  // recording fails again, and this is retried
  for (const v1::Event& event : *events) {
    Result<v1::JobRecord> after = jobs::Apply(job_, event);
    if (!after) {
      Diagnose(DiagnosticLevel::kError, "job " + job_.job().job_id() + ": " + after.error().message);
      co_return;
    }
    TakeEffect(*std::move(after), event);
  }
}

void RecordLoop::TakeEffect(v1::JobRecord after, const v1::Event& event) {
  job_ = std::move(after);
  if (!event.has_ended()) service_log_.Say(job_, jobs::LinesFor(job_, event), outside_.clock.Now());
  on_event_(event);
}

}  // namespace trainyard::control
