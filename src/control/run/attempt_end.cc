#include "control/run/attempt_end.h"

#include <utility>

#include "base/async/diagnostics.h"
#include "base/wire/time.h"
#include "control/run/pause.h"
#include "control/run/store_lines.h"

namespace trainyard::control {
namespace {

/// How often reading the remains of an ended attempt is retried after an error that is not a shortage.
constexpr int kCollectTriesMax = 5;

/// It is running after all, or the machine is temporarily short of something: disk, descriptors, memory.
bool MayPass(const Error& error) {
  return error.code == Code::kFailedPrecondition || error.code == Code::kResourceExhausted ||
         error.code == Code::kUnavailable;
}

boost::asio::awaitable<Result<engine::AttemptHost::Remains>> Collect(const Collaborators& outside,
                                                                     engine::AttemptRef attempt,
                                                                     logs::LogSource log) {
  const std::string& source = log.source;
  Trouble trouble;
  for (int tries = 1;; ++tries) {
    Result<std::int64_t> next_line = co_await outside.logs.NextLine(log.job_uid, source);
    Result<engine::AttemptHost::Remains> remains = std::unexpected(Unavailable(""));
    if (next_line) remains = co_await outside.hosts.Of(attempt.agent).Collect(attempt, *next_line);
    if (remains) co_return remains;
    const Error& error = next_line ? remains.error() : next_line.error();
    trouble.Say(DiagnosticLevel::kWarning, source + " cannot be collected: " + error.message);
    if (next_line && !MayPass(error) && tries >= kCollectTriesMax) co_return remains;
    co_await Pause(outside.settings.retry_pause);
  }
}

}  // namespace

replica::v1::ExitRecord NotStarted(const Collaborators& outside, replica::v1::ExitRecord::Cause cause,
                                   std::string why) {
  replica::v1::ExitRecord exit;
  exit.set_cause(cause);
  exit.set_message(std::move(why));
  *exit.mutable_end_time() = wire::ToProto(outside.clock.Now());
  return exit;
}

boost::asio::awaitable<bool> MakeSureItIsDead(const Collaborators& outside, engine::AttemptRef attempt,
                                              std::function<void(std::string)> on_trouble) {
  bool was_alive = false;
  for (;;) {
    const engine::Inspection found = co_await outside.hosts.Of(attempt.agent).Inspect(attempt);
    const bool known = found.state != engine::AttemptState::kUnknown;
    const bool alive =
        found.state == engine::AttemptState::kAlive || found.state == engine::AttemptState::kPending;
    if (known && !alive) co_return was_alive;
    Status killed;
    if (known) killed = co_await outside.hosts.Of(attempt.agent).Kill(attempt);
    if (known && killed) co_return true;
    was_alive = was_alive || known;
    on_trouble("may live and cannot be ended: " + (known ? killed.error().message : found.why));
    co_await Pause(outside.settings.retry_pause);
  }
}

boost::asio::awaitable<engine::AttemptHost::Remains> CollectRemains(const Collaborators& outside,
                                                                    engine::AttemptRef attempt,
                                                                    logs::LogSource source) {
  Result<engine::AttemptHost::Remains> collected = co_await Collect(outside, std::move(attempt), source);
  const std::chrono::milliseconds pause = outside.settings.retry_pause;
  engine::AttemptHost::Remains remains;
  if (collected) {
    remains = *std::move(collected);
    for (replica::v1::LogChunk& chunk : std::exchange(remains.chunks, {}))
      co_await StoreLinesAtLast(outside.logs, source, std::move(chunk), pause);
  } else {
    remains.exit.set_cause(replica::v1::ExitRecord::LOST);
    remains.exit.set_message("What the supervisor left cannot be read: " + collected.error().message);
    remains.lacks = "The last output of this replica cannot be read: " + collected.error().message + ".";
  }
  const SysTime now = outside.clock.Now();
  if (!remains.exit.has_end_time()) *remains.exit.mutable_end_time() = wire::ToProto(now);
  const bool lost = co_await SayMissingLines(outside.logs, source, remains.exit.log_lines(), now, pause);
  if (lost) remains.exit.set_log_lost(true);
  if (!lost && !remains.lacks.empty()) {
    jobs::ServiceLine line = jobs::WarningLine(remains.lacks);
    co_await SayBehindLines(outside.logs, std::move(source), std::move(line), now, pause);
  }
  co_return remains;
}

void Dismiss(engine::ReplicaLink& link) {
  engine::ToReplica frame;
  frame.mutable_dismiss();
  link.Send(std::move(frame));
}

void DismissOrphan(engine::ReplicaLink& link, replica::v1::Phase phase) {
  if (phase == replica::v1::ENDED) return Dismiss(link);
  engine::ToReplica frame;
  frame.mutable_stop()->set_reason("The job does not need this replica any more.");
  frame.mutable_stop()->set_kill(true);
  link.Send(std::move(frame));
}

void AnswerOrphan(engine::ReplicaLink& link, const engine::FromReplica& frame) {
  if (frame.has_exit()) return Dismiss(link);
  if (!frame.has_log()) return;
  engine::ToReplica ack;  // without it, its spool never runs empty, and it never ends
  ack.mutable_log_ack()->set_next_line(frame.log().first_line() + frame.log().line_count());
  link.Send(std::move(ack));
}

}  // namespace trainyard::control
