#include "control/run/record_loop.h"

#include <algorithm>
#include <chrono>

#include "base/async/diagnostics.h"

namespace trainyard::control {

boost::asio::awaitable<Status> RecordLoop::Post(v1::Event event, std::optional<std::int64_t> revision) {
  const auto posted = std::make_shared<Posted>(outside_.loop, std::move(event), revision);
  posted_.push_back(posted);
  wake_.Set();
  co_await posted->done.Wait();
  co_return posted->status;
}

boost::asio::awaitable<Status> RecordLoop::RecordPosted(Posted& posted) {
  if (posted.revision && *posted.revision != job().revision())
    co_return std::unexpected(Error{Code::kAborted, "the job has changed", ""});
  const bool is_late = job().job().has_end_time() || job().job().state() == ml::v1::Job::CANCELLING;
  if (posted.event.has_cancel_requested() && is_late) co_return Status{};
  co_return co_await history_.Record(std::move(posted.event));
}

boost::asio::awaitable<Status> RecordLoop::Record(v1::Event event) {
  Status recorded = co_await history_.Record(std::move(event));
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
    const std::optional<v1::JobRecord> moved = WithoutJumps(job(), outside_.jumped_since);
    const Turn turn = co_await take_turn(moved ? *moved : job(), now);
    if (turn.performed) continue;
    if (turn.wake_time) {
      co_await wake_.WaitFor(std::max(*turn.wake_time - now, std::chrono::nanoseconds{0}));
    } else {
      co_await wake_.Wait();
    }
  }
}

}  // namespace trainyard::control
