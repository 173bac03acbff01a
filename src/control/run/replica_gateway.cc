#include "control/run/replica_gateway.h"

#include <algorithm>
#include <utility>

#include "base/async/diagnostics.h"
#include "control/run/attempt_end.h"
#include "control/run/manifest.h"
#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "control/run/store_lines.h"

namespace trainyard::control {

ReplicaGateway::ReplicaGateway(Collaborators& outside, RunnerRegistry& registry, Orphans& orphans,
                               const Event& attempts_known)
    : outside_(outside), registry_(registry), orphans_(orphans), attempts_known_(attempts_known) {
  outside_.hosts.SetOnGone([this, alive = std::weak_ptr<bool>(alive_)](const std::string& attempt_id) {
    if (!alive.expired()) OnGone(attempt_id);
  });
}

Status ReplicaGateway::OnHello(std::shared_ptr<engine::ReplicaLink> link,
                               const engine::FromReplica::Hello& hello) {
  if (!IsAttemptToken(outside_.settings, hello.attempt_id(), hello.token())) {
    return std::unexpected(
        Error{Code::kUnauthenticated, "the token is not that of attempt " + hello.attempt_id(), ""});
  }
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(hello.attempt_id());
  if (attempt.runner != nullptr) {
    intakes_[hello.attempt_id()] = std::make_shared<Intake>(Intake{.link = link.get()});
    attempt.runner->OnHello(std::move(link), attempt.replica, attempt.number, hello.phase());
  } else {  // its job has ended, so its exit and its lines are stored
    DismissOrphan(*link, hello.phase());
    if (attempts_known_.IsSet()) orphans_.OnHello({.id = hello.attempt_id()});
  }
  return {};
}

boost::asio::awaitable<void> ReplicaGateway::OnFrame(std::shared_ptr<engine::ReplicaLink> link,
                                                     std::string attempt_id, engine::FromReplica frame) {
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner == nullptr || !attempt.runner->IsOpen(attempt.replica, attempt.number)) {
    AnswerOrphan(*link, frame);  // all of its lines were stored before its end was recorded
    co_return;
  }
  const auto found = intakes_.find(attempt_id);
  std::shared_ptr<Intake> intake = found == intakes_.end() ? nullptr : found->second;
  const bool is_former = intake == nullptr || intake->link != link.get();
  if (is_former && (frame.has_log() || frame.has_exit())) {
    link->Close();  // a newer connection has replaced this one, and sends the frame again
    co_return;
  }
  if (!is_former && intake->refused) co_return;
  if (frame.has_log()) {
    logs::LogSource source = AttemptSource(attempt.runner->job(), attempt.replica, attempt.number);
    CountLines(source, frame.log());
    attempt.runner->OnLines(attempt.replica, attempt.number);
    co_await TakeLines(std::move(link), std::move(intake), std::move(source),
                       std::move(*frame.mutable_log()));
  } else if (frame.has_exit() && frame.exit().log_lines() > intake->next_line) {
    co_await TakeExit(std::move(link), std::move(attempt_id), std::move(frame));
  } else {
    attempt.runner->OnFrame(*link, attempt.replica, attempt.number, std::move(frame));
  }
}

/// The exit of an attempt that may have written more lines than are stored.
boost::asio::awaitable<void> ReplicaGateway::TakeExit(std::shared_ptr<engine::ReplicaLink> link,
                                                      std::string attempt_id, engine::FromReplica frame) {
  const std::weak_ptr<bool> alive = alive_;
  RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  logs::LogSource source = AttemptSource(attempt.runner->job(), attempt.replica, attempt.number);
  const bool lost = co_await SayMissingLines(outside_.logs, std::move(source), frame.exit().log_lines(),
                                             outside_.clock.Now(), outside_.settings.retry_pause);
  if (alive.expired()) co_return;
  if (lost) frame.mutable_exit()->set_log_lost(true);
  attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner == nullptr) {
    AnswerOrphan(*link, frame);
  } else {
    attempt.runner->OnFrame(*link, attempt.replica, attempt.number, std::move(frame));
  }
}

void ReplicaGateway::CountLines(const logs::LogSource& source, const replica::v1::LogChunk& chunk) {
  const auto bytes = static_cast<std::int64_t>(chunk.lines().size());
  counted_.log_lines += chunk.line_count();
  counted_.log_bytes += bytes;
  if (outside_.bounds.bytes != nullptr) outside_.bounds.bytes->logs[source.project] += bytes;
  counted_.log_bytes_dropped += std::max<std::int64_t>(chunk.dropped_bytes(), 0);
}

/// Stores the lines of a replica and acknowledges them. The job may have ended and been removed before it is
/// done.
boost::asio::awaitable<void> ReplicaGateway::TakeLines(std::shared_ptr<engine::ReplicaLink> link,
                                                       std::shared_ptr<Intake> intake, logs::LogSource source,
                                                       replica::v1::LogChunk chunk) {
  const Settings& settings = outside_.settings;
  // After a Hello the supervisor begins with the first line that it still has. From then on it has all lines,
  // and a missing one will come over a later connection.
  const MissingLines missing = intake->begun ? MissingLines::kRefuse : MissingLines::kReplace;
  Result<logs::StoredLines> stored = co_await StoreLines(outside_.logs, source, std::move(chunk), missing);
  if (!stored) {
    // The supervisor keeps unacknowledged lines and sends them again when it reconnects.
    intake->refused = true;
    Diagnose(DiagnosticLevel::kWarning,
             "log lines of " + source.source + " are not stored yet: " + stored.error().message);
    co_await Pause(settings.retry_pause);
    link->Close();
    co_return;
  }
  intake->begun = true;
  intake->next_line = stored->next_line;
  engine::ToReplica ack;
  ack.mutable_log_ack()->set_next_line(stored->next_line);
  const std::int64_t limit = settings.job_log_bytes_max;
  ack.mutable_log_ack()->set_job_log_full(limit > 0 && stored->job_bytes >= limit);
  link->Send(std::move(ack));
}

void ReplicaGateway::OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) {
  const auto intake = intakes_.find(attempt_id);
  if (intake != intakes_.end() && intake->second->link == link) intakes_.erase(intake);
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner != nullptr) attempt.runner->OnClosed(link, attempt.replica);
}

void ReplicaGateway::OnGone(const std::string& attempt_id) {
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner != nullptr) return attempt.runner->OnGone(attempt.replica, attempt.number);
  if (attempts_known_.IsSet())
    orphans_.OnGone({.id = attempt_id});  // before that, its runner does not exist yet
}

void ReplicaGateway::CountInto(Figures& figures) const {
  figures.log_lines = counted_.log_lines;
  figures.log_bytes = counted_.log_bytes;
  figures.log_bytes_dropped = counted_.log_bytes_dropped;
}

}  // namespace trainyard::control
