#include "control/replica_gateway.h"

#include <algorithm>
#include <utility>

#include "async/diagnostics.h"
#include "control/dismissal.h"
#include "control/manifest.h"
#include "control/pause.h"
#include "control/service_log.h"
#include "control/store_lines.h"

namespace trainyard::control {

namespace {

/// Stores the lines of a replica and acknowledges them. Uses nothing but its arguments: the job may be over
/// and forgotten before it is done. The settings outlive everything.
boost::asio::awaitable<void> TakeLines(logs::LogStore& logs, logs::LogSource source,
                                       std::shared_ptr<engine::ReplicaLink> link, replica::v1::LogChunk chunk,
                                       const Settings& settings) {
  Result<logs::StoredLines> stored = co_await StoreLines(logs, source, std::move(chunk));
  if (!stored) {
    // The supervisor keeps what is not acknowledged and sends it again when it comes back.
    Diagnose(DiagnosticLevel::kWarning,
             "log lines of " + source.source + " are not stored yet: " + stored.error().message);
    co_await Pause(settings.retry_pause);
    link->Close();
    co_return;
  }
  engine::ToReplica ack;
  ack.mutable_log_ack()->set_next_line(stored->next_line);
  const std::int64_t limit = settings.job_log_bytes_max;
  ack.mutable_log_ack()->set_job_log_full(limit > 0 && stored->job_bytes >= limit);
  link->Send(std::move(ack));
}

}  // namespace

ReplicaGateway::ReplicaGateway(Collaborators& outside, RunnerRegistry& registry, Orphans& orphans,
                               const Event& recovered)
    : outside_(outside), registry_(registry), orphans_(orphans), recovered_(recovered) {
  outside_.host.SetOnGone([this, alive = std::weak_ptr<bool>(alive_)](const std::string& attempt_id) {
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
    attempt.runner->OnHello(std::move(link), attempt.replica, attempt.number, hello.phase());
  } else {  // its job has ended, so its exit and its lines are stored
    DismissOrphan(*link, hello.phase());
  }
  return {};
}

boost::asio::awaitable<void> ReplicaGateway::OnFrame(std::shared_ptr<engine::ReplicaLink> link,
                                                     std::string attempt_id, engine::FromReplica frame) {
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner == nullptr) {
    AnswerOrphan(*link, frame);
  } else if (frame.has_log()) {
    logs::LogSource source = AttemptSource(attempt.runner->job(), attempt.replica, attempt.number);
    counted_.log_lines += frame.log().line_count();
    counted_.log_bytes += static_cast<std::int64_t>(frame.log().lines().size());
    if (outside_.bytes != nullptr)
      outside_.bytes->logs[source.project] += static_cast<std::int64_t>(frame.log().lines().size());
    counted_.log_bytes_dropped += std::max<std::int64_t>(frame.log().dropped_bytes(), 0);
    co_await TakeLines(outside_.logs, std::move(source), std::move(link), std::move(*frame.mutable_log()),
                       outside_.settings);
  } else {
    attempt.runner->OnFrame(*link, attempt.replica, attempt.number, std::move(frame));
  }
}

void ReplicaGateway::OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) {
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner != nullptr) attempt.runner->OnClosed(link, attempt.replica);
}

void ReplicaGateway::OnGone(const std::string& attempt_id) {
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner != nullptr) return attempt.runner->OnGone(attempt.replica, attempt.number);
  if (recovered_.IsSet()) orphans_.OnGone({.id = attempt_id});  // before, its runner is yet to come
}

void ReplicaGateway::CountInto(Figures& figures) const {
  figures.log_lines = counted_.log_lines;
  figures.log_bytes = counted_.log_bytes;
  figures.log_bytes_dropped = counted_.log_bytes_dropped;
}

}  // namespace trainyard::control
