#include "control/run/record_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/async/diagnostics.h"
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
  if (IsEnding() &&
      ending_.size() > 1) {  // it comes between what has happened and the end, whose lines may wait
    jobs::Steps happened = ending_;
    happened.pop_back();
    TY_CO_RETURN_IF_ERROR(co_await Store(std::move(happened)));
  }
  if (posted.revision && *posted.revision != job().revision())
    co_return std::unexpected(Aborted("the job has changed"));
  const bool is_late = job().job().has_end_time() || job().job().state() == ml::v1::Job::CANCELLING;
  if (posted.event.has_cancel_requested() && is_late) co_return Status{};
  TY_CO_TRY(jobs::Step step, jobs::StepAfter(job_, std::move(posted.event), outside_.clock.Now()));
  jobs::Steps steps;
  steps.push_back(std::move(step));
  co_return co_await Append(std::move(steps));
}

boost::asio::awaitable<Status> RecordLoop::Record(v1::Event event) {
  Result<jobs::Step> step = jobs::StepAfter(job_, std::move(event), outside_.clock.Now());
  Result<jobs::Steps> steps;
  if (step)
    steps->push_back(*std::move(step));
  else
    steps = std::unexpected(std::move(step).error());
  return Record(std::move(steps));
}

boost::asio::awaitable<Status> RecordLoop::Record(Result<jobs::Steps> steps) {
  Status recorded;
  if (IsEnding()) steps = ending_;
  if (steps)
    recorded = co_await Append(*std::move(steps));
  else
    recorded = std::unexpected(std::move(steps).error());
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

boost::asio::awaitable<Status> RecordLoop::Append(jobs::Steps steps) {
  if (steps.back().event.has_ended()) TY_CO_RETURN_IF_ERROR(co_await SayEnd(steps));
  co_return co_await Store(std::move(steps));
}

boost::asio::awaitable<Status> RecordLoop::Store(jobs::Steps steps) {
  Status stored = co_await outside_.journal.Append(steps.back().after, jobs::EventsOf(steps));
  uncertain_ = !stored;
  if (!stored && stored.error().code == Code::kAborted) co_await CatchUp();
  if (!stored) co_return stored;
  for (jobs::Step& step : steps) TakeEffect(std::move(step));
  co_return Status{};
}

/// The lines of Ended are durable before the event is: clients stop reading the log when they see endTime. So
/// are those of the events that are stored with it. They are written once, however often the events have to
/// be recorded; so what they follow from must be certain.
boost::asio::awaitable<Status> RecordLoop::SayEnd(const jobs::Steps& steps) {
  if (!end_said_) {
    const std::int64_t revision = job_.revision();
    if (uncertain_) TY_CO_RETURN_IF_ERROR(co_await CatchUp());
    if (job_.revision() != revision) co_return std::unexpected(Aborted("the job has changed"));
    for (const jobs::Step& step : steps) Say(step);
    end_said_ = true;
    said_seq_ = steps.back().event.seq() - 1;
    ending_ = steps;
  }
  if (co_await service_log_.Flush(kFlushWaitMax)) co_return Status{};
  co_return std::unexpected(Unavailable("its log cannot be written"));
}

/// Loads events from the store that this object does not know: a write was reported as failed but succeeded.
/// Errors: it cannot be read. (If the caller goes on, recording fails again, and this is retried.)
boost::asio::awaitable<Status> RecordLoop::CatchUp() {
  TY_CO_TRY(const std::vector<v1::Event> events,
            co_await outside_.journal.Read([uid = job_.uid(), seq = job_.revision()](store::JobStore& jobs) {
              return jobs.Events(uid, seq);
            }));
  for (const v1::Event& event : events) {
    Result<v1::JobRecord> after = jobs::Apply(job_, event);
    if (!after) {
      Diagnose(DiagnosticLevel::kError, "job " + job_.job().job_id() + ": " + after.error().message);
      co_return std::unexpected(std::move(after).error());
    }
    TakeEffect({.event = event, .after = *std::move(after)});
  }
  uncertain_ = false;
  co_return Status{};
}

Result<jobs::Steps> RecordLoop::StepsFrom(v1::Event event, const jobs::Observation& seen) const {
  const SysTime now = outside_.clock.Now();
  TY_TRY(jobs::Step first, jobs::StepAfter(job_, std::move(event), now));
  jobs::Steps steps;
  steps.push_back(std::move(first));
  jobs::AddFollowing(steps, seen, outside_.jumped_since, now);
  return steps;
}

jobs::Steps RecordLoop::FirstSteps(v1::Event created, const jobs::Observation& seen) const {
  jobs::Steps steps;
  steps.push_back({.event = std::move(created), .after = job_});
  jobs::AddFollowing(steps, seen, outside_.jumped_since, outside_.clock.Now());
  return steps;
}

void RecordLoop::TakeFirst(jobs::Steps steps) {
  for (std::size_t i = 1; i < steps.size(); ++i) TakeEffect(std::move(steps[i]));
}

void RecordLoop::TakeEffect(jobs::Step step) {
  const bool is_said = step.event.has_ended() ? end_said_ : step.event.seq() <= said_seq_;
  if (!is_said) Say(step);
  job_ = std::move(step.after);
  on_event_(step.event);
}

void RecordLoop::Say(const jobs::Step& step) {
  service_log_.Say(step.after, jobs::LinesFor(step.after, step.event), outside_.clock.Now());
}

}  // namespace trainyard::control
