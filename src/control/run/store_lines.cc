#include "control/run/store_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/async/diagnostics.h"
#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "rules/jobs/service_lines.h"
#include "rules/measurement/hypertune_tags.h"

namespace trainyard::control {
namespace {

using logging::v2::LogEntry;
using replica::v1::LogChunk;

constexpr std::uint64_t kStampMax = std::uint64_t{1} << 61;  // a stamp beyond this is not a time

/// Replaces lines `from` to `to` - 1 (`to` > `from`); `near` is a stamp near theirs, if it is valid. In
/// pieces: a recreated log lacks all lines of a running attempt.
boost::asio::awaitable<Result<logs::StoredLines>> Replace(logs::LogStore& logs, logs::LogSource source,
                                                          std::int64_t from, std::int64_t to,
                                                          std::uint64_t near, std::string why) {
  const std::uint64_t stamp = near < kStampMax ? near : 0;
  std::string what = to - from == 1
                         ? "Line " + std::to_string(from + 1) + " is"
                         : "Lines " + std::to_string(from + 1) + " to " + std::to_string(to) + " are";
  std::string text = what + " not in this log: " + why;
  Diagnose(DiagnosticLevel::kError, source.source + ": " + text);
  Result<logs::StoredLines> stored;
  for (std::int64_t begin = from; begin < to && stored; begin += kReplacedLinesMax) {
    LogChunk chunk = jobs::ChunkOfLostLines(begin, std::min(to, begin + kReplacedLinesMax), stamp,
                                            begin == from ? text : "");
    stored = co_await logs.Append(source, std::move(chunk));
  }
  co_return stored;
}

}  // namespace

boost::asio::awaitable<Result<logs::StoredLines>> StoreLines(logs::LogStore& logs, logs::LogSource source,
                                                             LogChunk chunk, MissingLines missing) {
  Result<logs::StoredLines> stored = co_await logs.Append(source, chunk);
  if (stored || stored.error().code != Code::kInvalidArgument) co_return stored;
  TY_CO_TRY(std::int64_t next, co_await logs.NextLine(source.job_uid, source.source));
  const std::int64_t first = chunk.first_line();
  if (first < 0 || first > next + kMissingLinesMax || chunk.line_count() < 0 ||
      chunk.line_count() > kReplacedLinesMax) {
    co_return stored;
  }
  if (first > next) {
    if (missing == MissingLines::kRefuse) {
      const Error refused{Code::kFailedPrecondition, stored.error().message, ""};
      co_return std::unexpected(refused);
    }
    TY_CO_TRY(logs::StoredLines filled,
              co_await Replace(logs, source, next, first, chunk.first_stamp(), stored.error().message));
    next = filled.next_line;
    stored = co_await logs.Append(source, chunk);
    if (stored || stored.error().code != Code::kInvalidArgument) co_return stored;
  }
  const std::int64_t end = first + chunk.line_count();
  if (end <= next) co_return logs::StoredLines{.next_line = next};
  co_return co_await Replace(logs, source, next, end, chunk.first_stamp(), stored.error().message);
}

boost::asio::awaitable<void> StoreLinesAtLast(logs::LogStore& logs, logs::LogSource source, LogChunk chunk,
                                              std::chrono::milliseconds pause) {
  Trouble trouble;
  for (;;) {
    Result<logs::StoredLines> stored = co_await StoreLines(logs, source, chunk);
    if (stored) co_return;
    bool hopeless = stored.error().code == Code::kInvalidArgument;
    trouble.Say(hopeless ? DiagnosticLevel::kError : DiagnosticLevel::kWarning,
                "lines of " + source.source + " of job " + source.job_id +
                    (hopeless ? " are given up: " : " cannot be stored, trying again: ") +
                    stored.error().message);
    if (hopeless) co_return;
    co_await Pause(pause);
  }
}

boost::asio::awaitable<bool> SayMissingLines(logs::LogStore& logs, logs::LogSource source,
                                             std::int64_t written, SysTime now,
                                             std::chrono::milliseconds pause) {
  if (written <= 0) co_return false;
  Trouble trouble;
  Result<std::int64_t> next = co_await logs.NextLine(source.job_uid, source.source);
  while (!next) {
    trouble.Say(DiagnosticLevel::kError, source.source + ": " + next.error().message);
    co_await Pause(pause);
    next = co_await logs.NextLine(source.job_uid, source.source);
  }
  if (*next >= written) co_return false;
  const bool one = written - *next == 1;
  jobs::ServiceLine line{LogEntry::ERROR,
                         (one ? "Line " + std::to_string(written) + " of this replica's log is"
                              : "Lines " + std::to_string(*next + 1) + " to " + std::to_string(written) +
                                    " of this replica's log are") +
                             " lost: the replica wrote " + (one ? "it" : "them") +
                             ", and the disk no longer has " + (one ? "it" : "them") +
                             " (a power cut, or a damaged disk)."};
  Diagnose(DiagnosticLevel::kError, source.source + ": " + line.text);
  co_await SayBehindLines(logs, std::move(source), std::move(line), now, pause);
  co_return true;
}

/// A separate source with one line: the lines of the attempt keep their numbers.
boost::asio::awaitable<void> SayBehindLines(logs::LogStore& logs, logs::LogSource source,
                                            jobs::ServiceLine line, SysTime now,
                                            std::chrono::milliseconds pause) {
  source.source += "-end";
  const std::vector<jobs::ServiceLine> lines{std::move(line)};
  LogChunk chunk = MakeServiceChunk(0, lines, now);
  co_await StoreLinesAtLast(logs, std::move(source), std::move(chunk), pause);
}

bool KeepTagReport(metrics::UsageHistory* history, const v1::JobRecord& job, Reporter reporter,
                   const replica::v1::MetricReport& report) {
  if (job.replicas(reporter.replica).id().type() != replica::v1::MASTER) return true;
  const std::string tag(measurement::TagOf(report));
  if (tag.empty()) return false;
  if (history != nullptr) {
    history->Put({.job_uid = LogUid(job),
                  .trial_id = job.trial().trial_id(),
                  .attempt = reporter.attempt,
                  .tag = tag,
                  .report = report});
  }
  return true;
}

}  // namespace trainyard::control
