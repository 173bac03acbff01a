#include "control/job_runner.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/diagnostics.h"
#include "base/check.h"
#include "base/overloaded.h"
#include "cluster/task_name.h"
#include "control/manifest.h"
#include "jobs/transition.h"
#include "wire/time.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

constexpr std::chrono::seconds kRetryPause{
    1};  ///< between tries to write to a store that refuses (full disk)

bool IsTerminal(const v1::JobRecord& job) { return job.job().has_end_time(); }

boost::asio::awaitable<void> Pause() {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, kRetryPause);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

engine::ToReplica DismissFrame() {
  engine::ToReplica frame;
  frame.mutable_dismiss();
  return frame;
}

}  // namespace

JobRunner::JobRunner(Collaborators& outside, v1::JobRecord job, std::int64_t service_lines)
    : outside_(outside),
      job_(std::move(job)),
      service_log_(outside.loop, outside.logs, service_lines),
      links_(static_cast<std::size_t>(job_.replicas_size())),
      wake_(outside.loop),
      tasks_(outside.loop) {
  seen_.replicas.resize(static_cast<std::size_t>(job_.replicas_size()));
}

void JobRunner::Start(bool created, std::function<void()> on_done) {
  if (job_.job().state() == Job::QUEUED) {
    outside_.admissions.Enqueue(job_, [this](v1::Event::Admitted admission) {
      seen_.admission = std::move(admission);
      wake_.Set();
    });
  } else {
    outside_.admissions.Occupy(job_);
  }
  tasks_.Spawn(service_log_.Run());
  tasks_.Spawn(Run(created, std::move(on_done)));
}

boost::asio::awaitable<Status> JobRunner::Post(v1::Event event) {
  Status result;
  Event done(outside_.loop);
  posted_.push_back({std::move(event), &result, &done});
  wake_.Set();
  co_await done.Wait();
  co_return result;
}

boost::asio::awaitable<void> JobRunner::Run(bool created, std::function<void()> on_done) {
  if (!created) co_await TakeOver();
  co_await Live();
  on_done();
}

boost::asio::awaitable<void> JobRunner::Finish() {
  tasks_.Cancel();
  co_await tasks_.Join();
}

boost::asio::awaitable<void> JobRunner::TakeOver() {
  for (int replica = 0; replica < job_.replicas_size(); ++replica) {
    const v1::ReplicaRecord& record = job_.replicas(replica);
    if (record.attempt() > 0 && !record.has_exit()) co_await TakeOverReplica(replica);
  }
}

boost::asio::awaitable<void> JobRunner::TakeOverReplica(int replica) {
  int attempt = job_.replicas(replica).attempt();
  replica::v1::Manifest manifest = MakeManifest(outside_.settings, job_, replica, attempt);
  Result<engine::Liveness> liveness = co_await outside_.engine.Inspect(manifest);
  while (!liveness) {  // not knowing is no reason to start it again
    Diagnose(DiagnosticLevel::kError, AttemptId(job_, replica, attempt) + ": " + liveness.error().message);
    co_await Pause();
    liveness = co_await outside_.engine.Inspect(manifest);
  }
  if (*liveness == engine::Liveness::kAbsent) co_return;  // launched, never started: the rules start it
  seen_.replicas[static_cast<std::size_t>(replica)].started = true;
  leftovers_[{replica, attempt}];
  if (*liveness == engine::Liveness::kAlive) co_return;  // its supervisor says Hello
  leftovers_[{replica, attempt}].gone = true;
  co_await CollectRemains(replica, attempt);
}

boost::asio::awaitable<void> JobRunner::Live() {
  while (!IsTerminal(job_) || !leftovers_.empty() || !posted_.empty()) {
    wake_.Reset();
    if (!posted_.empty()) {
      co_await PerformPosted();
      continue;
    }
    SysTime now = outside_.clock.Now();
    std::vector<jobs::Action> actions = jobs::NextActions(job_, seen_, now);
    std::optional<SysTime> wake_time;
    for (const jobs::Action& action : actions) {
      if (const auto* wake = std::get_if<jobs::WakeAt>(&action)) wake_time = wake->time;
    }
    if (co_await PerformAll(std::move(actions))) continue;
    if (wake_time) {
      co_await wake_.WaitFor(std::max(*wake_time - now, std::chrono::nanoseconds{0}));
    } else {
      co_await wake_.Wait();
    }
  }
}

/// Whether there was anything to perform but waiting.
boost::asio::awaitable<bool> JobRunner::PerformAll(std::vector<jobs::Action> actions) {
  bool performed = false;
  for (jobs::Action& action : actions) {
    if (auto* start = std::get_if<jobs::StartReplica>(&action)) {
      co_await Perform(*start);
    } else if (auto* open = std::get_if<jobs::OpenBarrier>(&action)) {
      Perform(*open);
    } else if (auto* stop = std::get_if<jobs::StopReplica>(&action)) {
      Perform(*stop);
    } else if (auto* append = std::get_if<jobs::AppendEvent>(&action)) {
      Status recorded = co_await Record(append->event);
      if (!recorded) {
        Diagnose(
            DiagnosticLevel::kWarning,
            "job " + job_.job().job_id() + " cannot be recorded, trying again: " + recorded.error().message);
        co_await Pause();
      }
    } else {
      continue;  // WakeAt
    }
    performed = true;
  }
  co_return performed;
}

boost::asio::awaitable<void> JobRunner::PerformPosted() {
  Posted posted = std::move(posted_.front());
  posted_.pop_front();
  Status recorded = co_await Record(std::move(posted.event));
  *posted.result = std::move(recorded);
  posted.done->Set();
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::StartReplica action) {
  int replica = action.replica;
  int attempt = job_.replicas(replica).attempt();
  seen_.replicas[static_cast<std::size_t>(replica)].started = true;
  leftovers_[{replica, attempt}];
  Status started = co_await outside_.engine.Start(MakeManifest(outside_.settings, job_, replica, attempt));
  if (started) co_return;
  replica::v1::ExitRecord exit;
  exit.set_cause(replica::v1::ExitRecord::LOST);
  exit.set_message("The supervisor cannot be started: " + started.error().message);
  *exit.mutable_end_time() = wire::ToProto(outside_.clock.Now());
  leftovers_[{replica, attempt}].gone = true;
  SetExit(replica, attempt, std::move(exit));
}

void JobRunner::Perform(const jobs::OpenBarrier& action) {
  auto index = static_cast<std::size_t>(action.replica);
  seen_.replicas[index].cluster_sent = true;  // one that is not connected now gets it when it says Hello
  if (!links_[index]) return;
  engine::ToReplica frame;
  *frame.mutable_cluster() = MakeCluster(job_);
  links_[index]->Send(std::move(frame));
}

void JobRunner::Perform(const jobs::StopReplica& action) {
  auto index = static_cast<std::size_t>(action.replica);
  jobs::ReplicaObservation& seen = seen_.replicas[index];
  seen.stop_sent = true;  // a supervisor that is not connected now is told when it says Hello
  if (action.kill) seen.kill_sent = true;
  if (!seen.stop_time) seen.stop_time = outside_.clock.Now();
  if (!links_[index]) return;
  engine::ToReplica frame;
  frame.mutable_stop()->set_reason(action.reason);
  frame.mutable_stop()->set_kill(action.kill);
  links_[index]->Send(std::move(frame));
}

/// One event, durable before it has effects. What Ended says in the log is durable before the event is:
/// clients stop reading the log when they see endTime.
boost::asio::awaitable<Status> JobRunner::Record(v1::Event event) {
  SysTime now = outside_.clock.Now();
  event.set_seq(job_.revision() + 1);
  *event.mutable_time() = wire::ToProto(now);
  TY_CO_TRY(v1::JobRecord after, jobs::Apply(job_, event));
  std::vector<jobs::ServiceLine> lines = jobs::LinesFor(after, event);
  if (event.has_ended()) {
    service_log_.Say(after, std::exchange(lines, {}), now);
    co_await service_log_.Flush();
  }
  TY_CO_RETURN_IF_ERROR(co_await outside_.journal.Append(after, event));
  job_ = std::move(after);
  service_log_.Say(job_, std::move(lines), now);
  AfterEvent(event);
  co_return Status{};
}

void JobRunner::AfterEvent(const v1::Event& event) {
  if (event.has_launched()) {
    for (const replica::v1::ReplicaId& id : event.launched().replicas()) {
      int replica = FindReplica(cluster::TaskName(id));
      TY_CHECK(replica >= 0);
      seen_.replicas[static_cast<std::size_t>(replica)] = {};
      links_[static_cast<std::size_t>(replica)] = nullptr;
    }
  } else if (event.has_replica_ended()) {
    int replica = FindReplica(cluster::TaskName(event.replica_ended().replica()));
    AttemptKey key{replica, event.replica_ended().attempt()};
    leftovers_[key].recorded = true;
    if (const auto& link = links_[static_cast<std::size_t>(replica)]) link->Send(DismissFrame());
    SweepLeftover(key);
  } else if (event.has_ended()) {
    outside_.admissions.Leave(job_.uid());
    Diagnose(DiagnosticLevel::kInfo,
             "job " + job_.job().job_id() + " is " + Job::State_Name(job_.job().state()) +
                 (job_.job().error_message().empty() ? "" : ": " + job_.job().error_message()));
  }
}

void JobRunner::OnHello(std::shared_ptr<engine::ReplicaLink> link, int replica, int attempt,
                        replica::v1::Phase phase) {
  if (!IsCurrent(replica, attempt) || job_.replicas(replica).has_exit()) {
    link->Send(DismissFrame());
    return;
  }
  auto index = static_cast<std::size_t>(replica);
  jobs::ReplicaObservation& seen = seen_.replicas[index];
  seen.started = true;
  seen.phase = std::max(seen.phase, phase);
  seen.cluster_sent = seen.stop_sent = seen.kill_sent = false;
  links_[index] = std::move(link);
  wake_.Set();
}

boost::asio::awaitable<void> JobRunner::OnFrame(std::shared_ptr<engine::ReplicaLink> link, int replica,
                                                int attempt, engine::FromReplica frame) {
  if (frame.has_log()) {
    Result<std::int64_t> next =
        co_await outside_.logs.Append(AttemptSource(job_, replica, attempt), frame.log());
    if (!next) {
      // The supervisor keeps what is not acknowledged and sends it again when it comes back.
      Diagnose(DiagnosticLevel::kWarning, "log lines of " + AttemptId(job_, replica, attempt) +
                                              " are not stored yet: " + next.error().message);
      co_await Pause();
      link->Close();
      co_return;
    }
    engine::ToReplica ack;
    ack.mutable_log_ack()->set_next_line(*next);
    link->Send(std::move(ack));
  } else if (frame.has_phase_changed() && IsCurrent(replica, attempt)) {
    replica::v1::Phase& phase = seen_.replicas[static_cast<std::size_t>(replica)].phase;
    phase = std::max(phase, frame.phase_changed().phase());
    wake_.Set();
  } else if (frame.has_exit()) {
    SetExit(replica, attempt, std::move(*frame.mutable_exit()));
  }
}

void JobRunner::OnClosed(const engine::ReplicaLink* link, int replica) {
  std::shared_ptr<engine::ReplicaLink>& current = links_[static_cast<std::size_t>(replica)];
  if (current.get() == link) current = nullptr;
}

void JobRunner::OnGone(int replica, int attempt) {
  auto leftover = leftovers_.find({replica, attempt});
  if (leftover == leftovers_.end() || leftover->second.gone) return;
  leftover->second.gone = true;
  if (leftover->second.recorded) {
    SweepLeftover(leftover->first);
  } else {
    tasks_.Spawn(CollectRemains(replica, attempt));
  }
}

/// A supervisor that ended without being dismissed left its last lines and its exit record on disk, if it
/// could.
boost::asio::awaitable<void> JobRunner::CollectRemains(int replica, int attempt) {
  logs::LogSource source = AttemptSource(job_, replica, attempt);
  Result<std::int64_t> next_line = co_await outside_.logs.NextLine(job_.uid(), source.source);
  while (!next_line) {
    co_await Pause();
    next_line = co_await outside_.logs.NextLine(job_.uid(), source.source);
  }
  Result<engine::Engine::Remains> remains =
      co_await outside_.engine.Collect(MakeManifest(outside_.settings, job_, replica, attempt), *next_line);
  replica::v1::ExitRecord exit;
  if (remains) {
    for (replica::v1::LogChunk& chunk : remains->chunks) co_await AppendDurably(source, std::move(chunk));
    exit = std::move(remains->exit);
  } else {
    exit.set_cause(replica::v1::ExitRecord::LOST);
    exit.set_message("what the supervisor left cannot be read: " + remains.error().message);
  }
  if (exit.cause() == replica::v1::ExitRecord::LOST) {
    Diagnose(DiagnosticLevel::kWarning, AttemptId(job_, replica, attempt) + ": " + exit.message());
  }
  if (!exit.has_end_time()) *exit.mutable_end_time() = wire::ToProto(outside_.clock.Now());
  SetExit(replica, attempt, std::move(exit));
}

boost::asio::awaitable<void> JobRunner::AppendDurably(logs::LogSource source, replica::v1::LogChunk chunk) {
  for (;;) {
    Result<std::int64_t> appended = co_await outside_.logs.Append(source, chunk);
    if (appended || appended.error().code == Code::kInvalidArgument) co_return;
    Diagnose(DiagnosticLevel::kWarning,
             "log lines of " + source.source + " are not stored yet: " + appended.error().message);
    co_await Pause();
  }
}

void JobRunner::SweepLeftover(const AttemptKey& key) {
  Leftover& leftover = leftovers_.at(key);
  if (!leftover.gone || !leftover.recorded || leftover.removing) return;
  leftover.removing = true;
  tasks_.Spawn(RemoveAttempt(key.first, key.second));
}

boost::asio::awaitable<void> JobRunner::RemoveAttempt(int replica, int attempt) {
  Status removed = co_await outside_.engine.Remove(MakeManifest(outside_.settings, job_, replica, attempt));
  if (!removed) {
    Diagnose(DiagnosticLevel::kWarning,
             AttemptId(job_, replica, attempt) + " left files behind: " + removed.error().message);
  }
  leftovers_.erase({replica, attempt});
  wake_.Set();
}

void JobRunner::SetExit(int replica, int attempt, replica::v1::ExitRecord exit) {
  if (!IsCurrent(replica, attempt) || job_.replicas(replica).has_exit()) return;
  jobs::ReplicaObservation& seen = seen_.replicas[static_cast<std::size_t>(replica)];
  if (seen.exit) return;
  seen.exit = std::move(exit);
  seen.phase = replica::v1::ENDED;
  wake_.Set();
}

bool JobRunner::IsCurrent(int replica, int attempt) const {
  return job_.replicas(replica).attempt() == attempt;
}

int JobRunner::FindReplica(const std::string& task_name) const {
  for (int i = 0; i < job_.replicas_size(); ++i) {
    if (cluster::TaskName(job_.replicas(i).id()) == task_name) return i;
  }
  return -1;
}

}  // namespace trainyard::control
