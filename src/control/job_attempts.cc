#include "control/job_attempts.h"

#include <optional>
#include <string>

#include "async/diagnostics.h"
#include "cluster/attempt_id.h"
#include "control/attempt_end.h"
#include "control/image_lookups.h"
#include "control/manifest.h"
#include "control/pause.h"
#include "control/service_log.h"

namespace trainyard::control {

namespace {

/// The machine is short of something now that it may have later: disk, descriptors, processes.
bool MayPass(const Error& error) {
  return error.code == Code::kResourceExhausted || error.code == Code::kUnavailable;
}

}  // namespace

JobAttempts::JobAttempts(const Collaborators& outside, const v1::JobRecord& job, Observer& observer)
    : outside_(outside), job_(job), observer_(observer), tasks_(outside.loop) {}

JobAttempts::Known& JobAttempts::Add(int replica, int attempt) {
  const auto [known, is_new] = known_.try_emplace({replica, attempt});
  if (is_new) known->second.ref = AttemptRefOf(job_, replica, attempt);
  return known->second;
}

void JobAttempts::TakeOver(const std::vector<engine::AttemptRef>& listed) {
  for (int replica = 0; replica < job_.replicas_size(); ++replica) {
    const int attempt = job_.replicas(replica).attempt();
    if (attempt != 0 && observer_.IsOpen(replica, attempt)) Add(replica, attempt);
  }
  for (const engine::AttemptRef& ref : listed) {
    const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(ref.id);
    const int replica = name ? FindReplica(job_, name->task_name) : -1;
    if (replica < 0) continue;
    Known& known = Add(replica, name->attempt);
    known.ref = ref;  // where it was found
    known.recorded = !observer_.IsOpen(replica, name->attempt);
  }
  std::vector<Key> keys;
  for (const auto& [key, known] : known_) keys.push_back(key);
  for (const Key& key : keys) tasks_.Spawn(Adopt(key));
}

boost::asio::awaitable<void> JobAttempts::Adopt(Key key) {
  const engine::AttemptRef ref = known_.at(key).ref;
  engine::Inspection found = co_await outside_.host.Inspect(ref);
  while (found.state == engine::AttemptState::kUnknown) {  // not knowing is no reason to start it again
    Diagnose(DiagnosticLevel::kError, ref.id + ": " + found.why);
    co_await Pause(retry_pause());
    found = co_await outside_.host.Inspect(ref);
  }
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.gone) co_return;  // OnGone was faster
  switch (found.state) {
    case engine::AttemptState::kPending:
    case engine::AttemptState::kAlive: co_return;  // its supervisor says Hello, its end is OnGone
    case engine::AttemptState::kEnded:
    case engine::AttemptState::kLost: OnGone(key.first, key.second); co_return;
    case engine::AttemptState::kAbsent: co_return co_await TakeOverAbsent(key);
    case engine::AttemptState::kUnknown: co_return;
  }
}

/// One that has said something was started: its files are gone, as in a data directory that was restored
/// without them. Another one of its number would begin its lines where those of the first did, and lose as
/// many.
boost::asio::awaitable<void> JobAttempts::TakeOverAbsent(Key key) {
  const logs::LogSource source = AttemptSource(job_, key.first, key.second);
  Result<std::int64_t> lines = co_await outside_.logs.NextLine(source.job_uid, source.source);
  while (!lines) {
    Diagnose(DiagnosticLevel::kError, source.source + ": " + lines.error().message);
    co_await Pause(retry_pause());
    lines = co_await outside_.logs.NextLine(source.job_uid, source.source);
  }
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.gone) co_return;
  if (*lines > 0 && observer_.IsOpen(key.first, key.second)) {
    const std::string why = "The replica ran, and nothing of it is left on its machine.";
    NeverStarted(key.first, key.second, NotStarted(outside_, replica::v1::ExitRecord::LOST, why));
  } else {
    known_.erase(known);
    observer_.OnAbsent(key.first, key.second);
  }
}

boost::asio::awaitable<JobAttempts::Started> JobAttempts::Start(int replica, int attempt,
                                                                replica::v1::Manifest manifest) {
  const engine::AttemptRef ref = Add(replica, attempt).ref;
  Started started;
  started.status = co_await outside_.host.Start(std::move(manifest), job_.replicas(replica).slot());
  if (started.status) co_return started;
  const ImageRegistries* registries = outside_.registries;
  if (!job_.replicas(replica).image().empty() && registries != nullptr && !registries->resolve &&
      registries->look_for_containers)  // for the next try: what runs containers may have started meanwhile
    co_await registries->look_for_containers();
  SayRefused(ref, started.status.error());
  known_.at({replica, attempt}).gone = true;
  const bool was_alive = co_await MakeSureItIsDead(outside_, ref);
  if (!MayPass(started.status.error()) || was_alive) co_return started;
  const Status forgotten = co_await outside_.host.Forget(ref);
  started.is_clean = forgotten.has_value();
  if (started.is_clean) known_.erase({replica, attempt});
  co_return started;
}

/// Once for as long as nothing else is the reason: it is tried again each second.
void JobAttempts::SayRefused(const engine::AttemptRef& ref, const Error& error) {
  const bool is_new = std::exchange(said_refusal_, error.message) != error.message;
  Diagnose(is_new ? DiagnosticLevel::kWarning : DiagnosticLevel::kDebug,
           ref.id + " cannot be started: " + error.message);
}

void JobAttempts::Kill(int replica, int attempt) { tasks_.Spawn(KillUntilDone({replica, attempt})); }

boost::asio::awaitable<void> JobAttempts::KillUntilDone(Key key) {
  co_await Pause(2 * retry_pause());  // told over its connection it leaves a better record than when killed
  for (;;) {
    const auto known = known_.find(key);
    if (known == known_.end() || known->second.gone || !observer_.IsOpen(key.first, key.second)) co_return;
    const engine::AttemptRef ref = known->second.ref;
    const Status killed = co_await outside_.host.Kill(ref);
    if (killed) {
      OnGone(key.first, key.second);
      co_return;
    }
    Diagnose(DiagnosticLevel::kError, ref.id + " cannot be killed: " + killed.error().message);
    co_await Pause(retry_pause());
  }
}

void JobAttempts::OnGone(int replica, int attempt) {
  const auto known = known_.find({replica, attempt});
  if (known == known_.end() || known->second.gone) return;
  known->second.gone = true;
  if (known->second.recorded) {
    ForgetIfDone(known->first);
  } else if (!observer_.IsEndSeen(replica)) {
    tasks_.Spawn(CollectAndReport(known->first));
  }
}

void JobAttempts::NeverStarted(int replica, int attempt, replica::v1::ExitRecord exit) {
  Add(replica, attempt).gone = true;
  observer_.OnRemains(replica, attempt, {.exit = std::move(exit)});
}

boost::asio::awaitable<void> JobAttempts::CollectAndReport(Key key) {
  const auto [replica, attempt] = key;
  engine::AttemptHost::Remains remains =
      co_await CollectRemains(outside_, known_.at(key).ref, AttemptSource(job_, replica, attempt));
  observer_.OnRemains(key.first, key.second, std::move(remains));
}

void JobAttempts::OnRecorded(int replica, int attempt) {
  Add(replica, attempt).recorded = true;
  ForgetIfDone({replica, attempt});
}

void JobAttempts::ForgetIfDone(const Key& key) {
  Known& known = known_.at(key);
  if (!known.gone || !known.recorded || known.forgetting) return;
  known.forgetting = true;
  tasks_.Spawn(ForgetUntilDone(key));
}

boost::asio::awaitable<void> JobAttempts::ForgetUntilDone(Key key) {
  const engine::AttemptRef ref = known_.at(key).ref;
  Status forgotten = co_await outside_.host.Forget(ref);
  while (!forgotten && forgotten.error().code == Code::kFailedPrecondition) {  // it lives, with what it holds
    Diagnose(DiagnosticLevel::kError, ref.id + " cannot be removed: " + forgotten.error().message);
    co_await Pause(retry_pause());
    forgotten = co_await outside_.host.Forget(ref);
  }
  if (!forgotten)
    Diagnose(DiagnosticLevel::kWarning, ref.id + " left files behind: " + forgotten.error().message);
  known_.erase(key);
  observer_.OnForgotten();
}

boost::asio::awaitable<void> JobAttempts::Finish() {
  tasks_.Cancel();
  co_await tasks_.Join();
}

}  // namespace trainyard::control
