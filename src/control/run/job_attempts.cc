#include "control/run/job_attempts.h"

#include <optional>
#include <string>

#include "base/async/diagnostics.h"
#include "control/intake/image_lookups.h"
#include "control/run/attempt_end.h"
#include "control/run/job_secrets.h"
#include "control/run/manifest.h"
#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "rules/cluster/task_name.h"

namespace trainyard::control {

namespace {

/// The machine is temporarily short of something: disk, descriptors, processes.
bool StartMayPass(const Error& error) {
  return error.code == Code::kResourceExhausted || error.code == Code::kUnavailable;
}

/// Vertex AI gives programs the project's number, AI Platform its id. A variable of the job stays as it is.
void AddProjectNumber(const cluster::NumberOf& number_of, replica::v1::Manifest& manifest) {
  if (!manifest.vertex_variables()) return;
  manifest.mutable_environment()->insert(
      {"CLOUD_ML_PROJECT_ID", std::to_string(number_of(manifest.project()))});
}

}  // namespace

JobAttempts::JobAttempts(Collaborators& outside, const v1::JobRecord& job, Observer& observer)
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

/// Tells the operator, and those who wait for the job.
void JobAttempts::Report(const Key& key, const std::string& why) {
  const auto known = known_.find(key);
  if (known == known_.end()) return;
  const std::string text = known->second.ref.id + " " + why;
  known->second.trouble.Say(DiagnosticLevel::kError, text);
  observer_.OnTrouble(key.first, key.second, "The attempt " + text + ".");
}

boost::asio::awaitable<void> JobAttempts::Adopt(Key key) {
  const engine::AttemptRef ref = known_.at(key).ref;
  engine::Inspection found = co_await outside_.hosts.Of(ref.agent).Inspect(ref);
  while (found.state == engine::AttemptState::kUnknown) {  // an unknown state is no reason to start it again
    if (!known_.contains(key) || known_.at(key).gone) co_return;
    Report(key, "may live or not: " + found.why);
    co_await Pause(retry_pause());
    found = co_await outside_.hosts.Of(ref.agent).Inspect(ref);
  }
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.gone) co_return;  // OnGone came first
  observer_.OnTrouble(key.first, key.second, "");
  switch (found.state) {
    case engine::AttemptState::kPending:
    case engine::AttemptState::kAlive:  // its supervisor sends Hello, its end is OnGone
      if (known->second.recorded) co_return co_await KillUntilDone(key, outside_.settings.dismiss_wait);
      co_return co_await AdoptLiving(key);
    case engine::AttemptState::kEnded:
    case engine::AttemptState::kLost: OnGone(key.first, key.second); co_return;
    case engine::AttemptState::kAbsent: co_return co_await TakeOverAbsent(key);
    case engine::AttemptState::kUnknown: co_return;
  }
}

bool JobAttempts::IsAwaited(const Key& key) const {
  const auto known = known_.find(key);
  return known != known_.end() && !known->second.gone && !known->second.recorded &&
         !observer_.IsAttached(key.first) && !observer_.IsEndSeen(key.first);
}

/// For a supervisor that is running but not connected: why it never will be; empty: it may.
boost::asio::awaitable<std::string> JobAttempts::WhyRefused(engine::AttemptRef ref) {
  const Result<engine::AttemptHost::Holding> holding = co_await outside_.hosts.Of(ref.agent).HoldingOf(ref);
  const bool is_foreign =
      holding && !holding->token.empty() && !IsAttemptToken(outside_.settings, ref.id, holding->token);
  if (!is_foreign) co_return "";
  co_return "Its supervisor was started with another secret than the server has now (DATA/run/secret was removed or replaced), so it was stopped";
}

boost::asio::awaitable<void> JobAttempts::AdoptLiving(Key key) {
  std::string refused = co_await WhyRefused(known_.at(key).ref);
  if (IsAwaited(key) && !refused.empty()) co_return co_await End(key, std::move(refused));
  co_await AwaitAttach(key);
}

boost::asio::awaitable<void> JobAttempts::End(Key key, std::string why) {
  Report(key, "is ended. " + why);
  known_.at(key).killed = std::move(why);
  co_await KillUntilDone(key, {});
}

/// Checks on an attempt as long as its supervisor is not connected.
boost::asio::awaitable<void> JobAttempts::AwaitAttach(Key key) {
  if (!IsAwaited(key) || std::exchange(known_.at(key).awaited, true)) co_return;
  const engine::AttemptRef ref = known_.at(key).ref;
  for (;;) {
    co_await Pause(outside_.settings.attach_wait);
    if (!IsAwaited(key)) break;
    const engine::Inspection found = co_await outside_.hosts.Of(ref.agent).Inspect(ref);
    if (!IsAwaited(key)) break;
    switch (found.state) {
      case engine::AttemptState::kPending: continue;
      case engine::AttemptState::kEnded:
      case engine::AttemptState::kLost: OnGone(key.first, key.second); co_return;
      case engine::AttemptState::kAbsent: co_return co_await TakeOverAbsent(key);
      case engine::AttemptState::kUnknown: Report(key, "may live or not: " + found.why); continue;
      case engine::AttemptState::kAlive: break;
    }
    if (found.has_exit) {
      co_return co_await End(key, "Its program has ended, but its supervisor does not report how");
    }
    Report(
        key,
        "lives, and its supervisor has not been connected to the server for " +
            std::to_string(std::chrono::ceil<std::chrono::seconds>(outside_.settings.attach_wait).count()) +
            " s or more. It may be stopped (SIGSTOP), or the server's sockets in DATA/run were removed: "
            "start the server again, or cancel the job, which ends it");
  }
  const auto known = known_.find(key);
  if (known == known_.end()) co_return;
  known->second.awaited = false;
  observer_.OnTrouble(key.first, key.second, "");
}

/// An attempt whose lines are in the log was started: its files are gone, as in a data directory that was
/// restored without them. A new attempt of the same number would begin its lines at the same numbers, and
/// lose as many.
boost::asio::awaitable<void> JobAttempts::TakeOverAbsent(Key key) {
  const logs::LogSource source = AttemptSource(job_, key.first, key.second);
  Result<std::int64_t> lines = co_await outside_.logs.NextLine(source.job_uid, source.source);
  while (!lines) {
    if (!known_.contains(key)) co_return;
    Report(key, "has lines that cannot be counted: " + lines.error().message);
    co_await Pause(retry_pause());
    lines = co_await outside_.logs.NextLine(source.job_uid, source.source);
  }
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.gone) co_return;
  observer_.OnTrouble(key.first, key.second, "");
  if (*lines > 0 && observer_.IsOpen(key.first, key.second)) {
    const std::string why = "The replica ran, but nothing of it is left on its machine.";
    NeverStarted(key.first, key.second, NotStarted(outside_, replica::v1::ExitRecord::LOST, why));
  } else {
    known_.erase(known);
    observer_.OnAbsent(key.first, key.second);
  }
}

boost::asio::awaitable<JobAttempts::Started> JobAttempts::Start(int replica, int attempt) {
  Started started;
  replica::v1::Manifest manifest = MakeManifest(outside_.settings, job_, replica, attempt);
  AddProjectNumber(outside_.number_of, manifest);
  if (outside_.hooks.buckets_of) *manifest.mutable_buckets() = co_await outside_.hooks.buckets_of(job_);
  std::optional<replica::v1::ExitRecord> failed = co_await CompleteSecrets(outside_, job_, manifest);
  if (failed) {
    NeverStarted(replica, attempt, *std::move(failed));
    co_return started;
  }
  const engine::AttemptRef ref = Add(replica, attempt).ref;
  const engine::Slot& slot = job_.replicas(replica).slot();
  started.status = co_await outside_.hosts.Of(slot.agent()).Start(std::move(manifest), slot);
  if (started.status) {
    tasks_.Spawn(AwaitAttach({replica, attempt}));
    co_return started;
  }
  const ImageRegistries* registries = outside_.images.registries;
  if (!job_.replicas(replica).image().empty() && registries != nullptr && !registries->resolve &&
      registries->look_for_containers)  // for the next try: the container program may have started meanwhile
    co_await registries->look_for_containers();
  SayRefused(ref, started.status.error());
  const auto known = known_.find({replica, attempt});
  if (known == known_.end()) co_return started;  // it was started nevertheless, has ended, and was removed
  known->second.gone = true;
  auto report = [this, key = Key(replica, attempt)](std::string why) { Report(key, why); };
  const bool was_alive = co_await MakeSureItIsDead(outside_, ref, std::move(report));
  observer_.OnTrouble(replica, attempt, "");
  if (!StartMayPass(started.status.error()) || was_alive) co_return started;
  const Status forgotten = co_await outside_.hosts.Of(ref.agent).Forget(ref);
  started.is_clean = forgotten.has_value();
  if (started.is_clean) known_.erase({replica, attempt});
  co_return started;
}

/// Logged once for as long as the reason is the same: it is retried every second.
void JobAttempts::SayRefused(const engine::AttemptRef& ref, const Error& error) {
  const bool is_new = std::exchange(said_refusal_, error.message) != error.message;
  Diagnose(is_new ? DiagnosticLevel::kWarning : DiagnosticLevel::kDebug,
           ref.id + " cannot be started: " + error.message);
}

void JobAttempts::Kill(int replica, int attempt) {
  // A supervisor that is told over its connection leaves a better record than a killed one.
  tasks_.Spawn(KillUntilDone({replica, attempt}, 2 * retry_pause()));
}

/// Kills the attempt, retrying until it is dead. One whose end is recorded is only killed if it already was
/// when this began.
boost::asio::awaitable<void> JobAttempts::KillUntilDone(Key key, std::chrono::milliseconds wait) {
  const bool recorded = known_.contains(key) && known_.at(key).recorded;
  if (wait.count() > 0) co_await Pause(wait);
  for (;;) {
    const auto known = known_.find(key);
    if (known == known_.end() || known->second.gone || known->second.recorded != recorded) co_return;
    const engine::AttemptRef ref = known->second.ref;
    const Status killed = co_await outside_.hosts.Of(ref.agent).Kill(ref);
    if (killed) {
      OnGone(key.first, key.second);
      co_return;
    }
    Report(key, "cannot be killed: " + killed.error().message);
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
    observer_.OnTrouble(replica, attempt,
                        "What the attempt " + known->second.ref.id + " has left is being stored.");
    tasks_.Spawn(CollectAndReport(known->first));
  }
}

/// The replica's current attempt ends without a supervisor: nothing of it exists.
void JobAttempts::NeverStarted(int replica, int attempt, replica::v1::ExitRecord exit) {
  Add(replica, attempt).gone = true;
  observer_.OnRemains(replica, attempt, {.exit = std::move(exit)});
}

boost::asio::awaitable<void> JobAttempts::CollectAndReport(Key key) {
  const auto [replica, attempt] = key;
  engine::AttemptHost::Remains remains =
      co_await CollectRemains(outside_, known_.at(key).ref, AttemptSource(job_, replica, attempt));
  const auto known = known_.find(key);
  if (known == known_.end()) co_return;  // its end was reported and recorded, and it was removed meanwhile
  const std::string& killed = known->second.killed;
  if (!killed.empty() && remains.exit.cause() == replica::v1::ExitRecord::LOST)
    remains.exit.set_message(killed);
  observer_.OnTrouble(replica, attempt, "");
  observer_.OnRemains(key.first, key.second, std::move(remains));
}

void JobAttempts::OnRecorded(int replica, int attempt) {
  const Key key{replica, attempt};
  Add(replica, attempt).recorded = true;
  if (!known_.at(key).gone) tasks_.Spawn(KillUntilDone(key, outside_.settings.dismiss_wait));
  ForgetIfDone(key);
}

void JobAttempts::ForgetIfDone(const Key& key) {
  Known& known = known_.at(key);
  if (!known.gone || !known.recorded || known.forgetting) return;
  known.forgetting = true;
  tasks_.Spawn(ForgetUntilDone(key));
}

boost::asio::awaitable<void> JobAttempts::ForgetUntilDone(Key key) {
  const engine::AttemptRef ref = known_.at(key).ref;
  Status forgotten = co_await outside_.hosts.Of(ref.agent).Forget(ref);
  while (!forgotten && forgotten.error().code == Code::kFailedPrecondition) {  // it is still running
    Report(key, "cannot be removed: " + forgotten.error().message);
    co_await Pause(retry_pause());
    forgotten = co_await outside_.hosts.Of(ref.agent).Forget(ref);
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
