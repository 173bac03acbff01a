#include "control/run/wait_log.h"

#include <algorithm>
#include <utility>

#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "control/run/store_lines.h"

namespace trainyard::control {

namespace {

logs::LogSource WaitSource(const v1::JobRecord& job) {
  logs::LogSource source = ServiceSource(job);
  source.source = job.has_trial() ? "waiting-" + job.trial().trial_id() : "waiting";
  return source;
}

}  // namespace

WaitLog::WaitLog(boost::asio::any_io_executor loop, logs::LogStore& logs,
                 std::chrono::milliseconds retry_pause)
    : logs_(logs), retry_pause_(retry_pause), said_(loop), flushed_(loop) {
  flushed_.Set();
}

std::optional<SysTime> WaitLog::Look(const v1::JobRecord& job, const std::optional<jobs::Waiting>& waiting,
                                     SysTime now) {
  if (!waiting) {
    cause_.clear();
    return std::nullopt;
  }
  if (std::exchange(cause_, waiting->cause) != waiting->cause) since_ = now;
  const bool same_kind = said_cause_ == waiting->cause;
  // Positions in the queue change all the time; they can be queried instead.
  if (same_kind && (waiting->cause == jobs::kTurn || said_reason_ == waiting->reason)) return std::nullopt;
  SysTime due = since_ + kSaidAfter;
  if (same_kind) due = std::max(due, said_time_ + kSaidAgainAfter);
  if (now < due) return due;
  said_cause_ = waiting->cause;
  said_reason_ = waiting->reason;
  said_time_ = now;
  std::string text = waiting->reason + " " + waiting->unblock;
  Say(job, waiting->never ? jobs::WarningLine(std::move(text)) : jobs::InfoLine(std::move(text)), now);
  return std::nullopt;
}

bool WaitLog::IsAnother(const std::optional<jobs::Waiting>& waiting) {
  std::string reason = waiting ? waiting->reason : "";
  return std::exchange(reason_, reason) != reason;
}

void WaitLog::Say(const v1::JobRecord& job, jobs::ServiceLine line, SysTime now) {
  queue_.push_back({WaitSource(job), std::move(line), now});
  flushed_.Reset();
  said_.Set();
}

boost::asio::awaitable<void> WaitLog::Run() {
  for (;;) {
    co_await said_.Wait();
    said_.Reset();
    while (!queue_.empty()) {
      std::vector<Line> batch = std::exchange(queue_, {});
      for (Line& line : batch) co_await Write(std::move(line));
    }
    flushed_.Set();
  }
}

/// Rare enough to ask the store each time for the source's next line: a previous server may have written
/// some.
boost::asio::awaitable<void> WaitLog::Write(Line line) {
  Result<std::int64_t> next = co_await logs_.NextLine(line.source.job_uid, line.source.source);
  while (!next) {
    co_await Pause(retry_pause_);
    next = co_await logs_.NextLine(line.source.job_uid, line.source.source);
  }
  const std::vector<jobs::ServiceLine> lines{std::move(line.said)};
  replica::v1::LogChunk chunk = MakeServiceChunk(*next, lines, line.time);
  co_await StoreLinesAtLast(logs_, std::move(line.source), std::move(chunk), retry_pause_);
}

boost::asio::awaitable<bool> WaitLog::Flush(std::chrono::milliseconds wait_max) {
  co_return co_await flushed_.WaitFor(wait_max);
}

}  // namespace trainyard::control
