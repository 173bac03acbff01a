#include "control/run/job_history.h"

#include <utility>

#include "base/async/diagnostics.h"
#include "base/wire/time.h"
#include "rules/jobs/transition.h"

namespace trainyard::control {

namespace {

/// How long an end waits for its lines before other events (a cancel, a patch) get their turn.
constexpr std::chrono::milliseconds kFlushWaitMax{200};

}  // namespace

JobHistory::JobHistory(const Collaborators& outside, v1::JobRecord job, std::int64_t service_lines,
                       OnEvent on_event)
    : outside_(outside),
      job_(std::move(job)),
      service_log_(outside.loop, outside.logs, service_lines, outside.settings.retry_pause),
      on_event_(std::move(on_event)) {}

void JobHistory::SayAgain(std::vector<jobs::ServiceLine> lines) {
  service_log_.Say(job_, std::move(lines), outside_.clock.Now());
}

boost::asio::awaitable<Status> JobHistory::Record(v1::Event event) {
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
boost::asio::awaitable<Status> JobHistory::SayEnd(v1::JobRecord after, v1::Event event) {
  if (!std::exchange(end_said_, true))
    service_log_.Say(after, jobs::LinesFor(after, event), outside_.clock.Now());
  if (co_await service_log_.Flush(kFlushWaitMax)) co_return Status{};
  co_return std::unexpected(Unavailable("its log cannot be written"));
}

/// Loads events from the store that this object does not know: a write was reported as failed but succeeded.
boost::asio::awaitable<void> JobHistory::CatchUp() {
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

void JobHistory::TakeEffect(v1::JobRecord after, const v1::Event& event) {
  job_ = std::move(after);
  if (!event.has_ended()) service_log_.Say(job_, jobs::LinesFor(job_, event), outside_.clock.Now());
  on_event_(event);
}

}  // namespace trainyard::control
