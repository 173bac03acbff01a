#include "control/run/job_runner.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/diagnostics.h"
#include "base/check.h"
#include "control/intake/instance.h"
#include "control/run/attempt_end.h"
#include "control/run/job_secrets.h"
#include "control/run/pause.h"
#include "control/run/service_log.h"
#include "control/run/store_lines.h"
#include "rules/cluster/task_name.h"
#include "rules/diagnosis/classify.h"
#include "stores/metrics/usage_history.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

/// How long an end waits for lines about the job's waiting.
constexpr std::chrono::milliseconds kFlushWaitMax{200};

/// A lost supervisor has not diagnosed the exit.
void DiagnoseLost(replica::v1::ExitRecord& exit) {
  if (auto known = diagnosis::Classify({.cause = exit.cause(), .message = exit.message()}))
    *exit.mutable_diagnosis() = *std::move(known);
}

/// A line for the server's own log.
std::string EndText(const v1::JobRecord& job) {
  return "job " + job.job().job_id() + (job.has_trial() ? "/" + job.trial().trial_id() : "") + " is " +
         Job::State_Name(job.job().state()) +
         (job.job().error_message().empty() ? "" : ": " + job.job().error_message());
}

boost::asio::awaitable<void> BeforeEnd(Collaborators& outside, WaitLog& wait_log, const v1::JobRecord& job) {
  co_await wait_log.Flush(kFlushWaitMax);
  if (outside.kept.usage != nullptr) co_await outside.kept.usage->KeepReports(LogUid(job));
  co_await ForgetSecrets(outside, job);
}

/// The reason why nothing can start; empty: there is space for a replica.
std::string WhyNothingBegins(const Collaborators& outside) {
  const Status space = outside.bounds.may_begin ? outside.bounds.may_begin() : Status();
  return space ? "" : space.error().message;
}

std::optional<SysTime> WakeTimeOf(const std::vector<jobs::Action>& actions) {
  std::optional<SysTime> time;
  for (const jobs::Action& action : actions)
    if (const auto* wake = std::get_if<jobs::WakeAt>(&action)) time = wake->time;
  return time;
}

jobs::Observation NothingSeen(const Settings& settings, std::size_t replicas) {
  jobs::Observation seen;
  seen.replicas.resize(replicas);
  seen.restart_pause = settings.restart_pause;
  seen.retry_pause = settings.retry_pause;
  return seen;
}

void SendCluster(engine::ReplicaLink& link, replica::v1::Cluster cluster) {
  engine::ToReplica frame;
  *frame.mutable_cluster() = std::move(cluster);
  link.Send(std::move(frame));
}

void SendStop(engine::ReplicaLink& link, const jobs::StopReplica& stop) {
  engine::ToReplica frame;
  frame.mutable_stop()->set_reason(stop.reason);
  frame.mutable_stop()->set_kill(stop.kill || stop.hurry);
  link.Send(std::move(frame));
}

void KeepUsage(const Collaborators& outside, const v1::JobRecord& job, Reporter reporter,
               replica::v1::Usage usage) {
  if (outside.kept.usage == nullptr) return;
  outside.kept.usage->Add(
      {.job_uid = LogUid(job),
       .task_name = UsageName(job, cluster::TaskName(job.replicas(reporter.replica).id())),
       .attempt = reporter.attempt,
       .usage = std::move(usage)});
}

void ForgetUsage(const Collaborators& outside, const v1::JobRecord& job, int replica) {
  if (outside.kept.usage != nullptr)
    outside.kept.usage->Forget(LogUid(job), UsageName(job, cluster::TaskName(job.replicas(replica).id())));
}

void MarkAway(const std::vector<std::shared_ptr<engine::ReplicaLink>>& links, jobs::Observation& seen) {
  for (std::size_t i = 0; i < links.size(); ++i) seen.replicas[i].away = links[i] == nullptr;
}

bool IsTerminal(const v1::JobRecord& job) { return job.job().has_end_time(); }

}  // namespace

JobRunner::JobRunner(Collaborators& outside, v1::JobRecord job, std::int64_t service_lines)
    : outside_(outside),
      records_(outside, std::move(job), service_lines, [this](const v1::Event& event) { AfterEvent(event); }),
      links_(static_cast<std::size_t>(job_.replicas_size())),
      wait_log_(outside.loop, outside.logs, outside.settings.retry_pause),
      room_(outside, job_, seen_, wake_),
      attempts_(outside, job_, *this),
      look_up_(outside, seen_.images, wake_),
      tasks_(outside.loop) {
  seen_ = NothingSeen(outside.settings, links_.size());
  if (!job_.has_trial()) return;
  TY_CHECK(outside.kept.buckets != nullptr);
  trial_ = std::make_unique<TrialWatch>(outside.loop, job_, *outside.kept.buckets, [this] {
    for (std::string line = trial_->TakeWarning(); !line.empty(); line = trial_->TakeWarning())
      wait_log_.Say(job_, jobs::WarningLine(std::move(line)), outside_.clock.Now());
    if (on_change_) on_change_(*this);
  });
}

boost::asio::awaitable<jobs::Steps> JobRunner::Begin(v1::Event created) {
  seen_.disk_full = WhyNothingBegins(outside_);
  // A plan that gives it room is made in a turn of the loop before the one posted here.
  if (room_.AskEarly()) co_await boost::asio::post(outside_.loop, boost::asio::use_awaitable);
  co_return records_.FirstSteps(std::move(created), seen_);
}

void JobRunner::TakeOver(const std::vector<engine::AttemptRef>& attempts, std::function<void()> on_done) {
  for (int replica = 0; replica < job_.replicas_size(); ++replica) {
    const int attempt = job_.replicas(replica).attempt();
    if (attempt != 0 && IsOpen(replica, attempt)) Seen(replica).started = true;  // until proved absent
  }
  attempts_.TakeOver(attempts);
  Start(std::move(on_done));
}

void JobRunner::Warn(std::string text) {
  wait_log_.Say(job_, jobs::WarningLine(std::move(text)), outside_.clock.Now());
}

void JobRunner::Start(std::function<void()> on_done) {
  room_.Keep();
  tasks_.Spawn(records_.WriteLines());
  tasks_.Spawn(wait_log_.Run());
  if (trial_) tasks_.Spawn(trial_->Run());
  tasks_.Spawn(Run(std::move(on_done)));
}

boost::asio::awaitable<void> JobRunner::Run(std::function<void()> on_done) {
  co_await records_.Run([this] { return IsTerminal(job_) && attempts_.empty(); },
                        [this](const v1::JobRecord& job, SysTime now) { return TakeTurn(job, now); });
  room_.Prove();  // this proves that no attempt is left
  on_done();
}

boost::asio::awaitable<void> JobRunner::Finish() {
  co_await attempts_.Finish();
  Cancel();
  co_await tasks_.Join();
}

void JobRunner::OnTrouble(int replica, int attempt, std::string why) {
  if (!IsOpen(replica, attempt) || Seen(replica).trouble == why) return;
  Seen(replica).trouble = std::move(why);
  wake_.Set();
}

void JobRunner::OnAbsent(int replica, int attempt) {  // launched, never started: the rules start it
  if (IsOpen(replica, attempt)) Seen(replica).started = false;
  wake_.Set();
}

void JobRunner::OnRemains(int replica, int attempt, engine::AttemptHost::Remains remains) {
  const bool is_lost = remains.exit.cause() == replica::v1::ExitRecord::LOST;
  const std::string lost = is_lost ? remains.exit.message() : "";
  if (IsOpen(replica, attempt) && remains.endpoint.port() != 0) Seen(replica).endpoint = remains.endpoint;
  if (SetExit(replica, attempt, std::move(remains.exit)) && !lost.empty())
    Diagnose(DiagnosticLevel::kWarning, AttemptId(job_, replica, attempt) + ": " + lost);
}

boost::asio::awaitable<RecordLoop::Turn> JobRunner::TakeTurn(const v1::JobRecord& job, SysTime now) {
  seen_.disk_full = WhyNothingBegins(outside_);
  MarkAway(links_, seen_);
  std::vector<jobs::Action> actions = jobs::NextActions(job, seen_, now);
  RecordLoop::Turn turn{.wake_time = WakeTimeOf(actions)};
  turn.performed = co_await PerformAll(std::move(actions));
  if (turn.performed) co_return turn;
  if (const std::optional<SysTime> look = LookAtWait(now))
    turn.wake_time = std::min(turn.wake_time.value_or(*look), *look);
  co_return turn;
}

/// Returns when to look again at the latest.
std::optional<SysTime> JobRunner::LookAtWait(SysTime now) {
  const std::optional<jobs::Waiting> waiting = WhyWaiting();
  if (wait_log_.IsAnother(waiting) && outside_.hooks.on_wait_changed) outside_.hooks.on_wait_changed(job_);
  return wait_log_.Look(job_, waiting, now);
}

/// Returns whether there was anything to do except waiting.
boost::asio::awaitable<bool> JobRunner::PerformAll(std::vector<jobs::Action> actions) {
  bool performed = false;
  for (jobs::Action& action : actions) {
    performed = performed || !std::holds_alternative<jobs::WakeAt>(action);
    auto perform = [this](auto&& one) { return Perform(std::forward<decltype(one)>(one)); };
    co_await std::visit(perform, std::move(action));
  }
  co_return performed;
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::AppendEvent action) {
  Result<jobs::Steps> steps = records_.StepsFrom(std::move(action.event), seen_);
  // Secrets are deleted before the end, and only once it is durable that nothing starts again.
  if (steps && steps->back().event.has_ended() && steps->size() > 1 && HasSecrets(job_)) steps->pop_back();
  if (steps && steps->back().event.has_ended()) co_await BeforeEnd(outside_, wait_log_, job_);
  const Status recorded = co_await records_.Record(std::move(steps));
  seen_.unrecorded = recorded ? "" : recorded.error().message;
  if (recorded) co_return;
  LookAtWait(outside_.clock.Now());
  co_await Pause(outside_.settings.retry_pause);
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::ResolveImages) {
  tasks_.Spawn(look_up_.Run(job_));
  co_return;
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::ReserveRoom action) {
  room_.Ask(action.try_number);
  co_return;
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::StartReplica action) {
  const int replica = action.replica;
  const int attempt = job_.replicas(replica).attempt();
  Seen(replica).started = true;
  const JobAttempts::Started started = co_await attempts_.Start(replica, attempt);
  if (started.status) co_return;
  if (started.is_clean) {  // the same attempt is started again
    Seen(replica) = {.refused = started.status.error().message};
    LookAtWait(outside_.clock.Now());
    co_return co_await Pause(outside_.settings.retry_pause);
  }
  const std::string why = "The supervisor cannot be started: " + started.status.error().message;
  SetExit(replica, attempt, NotStarted(outside_, replica::v1::ExitRecord::LOST, why));
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::OpenBarrier action) {
  Seen(action.replica).cluster_sent = true;  // a replica that is not connected now gets it after its Hello
  const auto& link = links_[static_cast<std::size_t>(action.replica)];
  if (link) SendCluster(*link, MakeCluster(job_, seen_));
  co_return;
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::StopReplica action) {
  jobs::ReplicaObservation& seen = Seen(action.replica);
  jobs::NoteSent(action, seen);
  // The rules' own limit comes after the supervisor's: it counts from the end of the grace period.
  if (!seen.stop_time)
    seen.stop_time = outside_.clock.Now() + jobs::GraceOf(action, outside_.settings.stop_grace);
  if (action.kill) attempts_.Kill(action.replica, job_.replicas(action.replica).attempt());
  if (const auto& link = links_[static_cast<std::size_t>(action.replica)]) SendStop(*link, action);
  co_return;
}

boost::asio::awaitable<void> JobRunner::Perform(jobs::MeasureTrial) {
  seen_.measured = co_await trial_->Finish();
}

/// Nothing to do: RecordLoop sleeps until then.
boost::asio::awaitable<void> JobRunner::Perform(jobs::WakeAt) { co_return; }

void JobRunner::TakeReport(int replica, int attempt, replica::v1::MetricReport said) {
  if (!KeepTagReport(outside_.kept.usage, job_, {replica, attempt}, said) && trial_)
    trial_->Take(std::move(said));
}

const replica::v1::MetricReport& JobRunner::report() const {
  return trial_ ? trial_->report() : replica::v1::MetricReport::default_instance();
}

void JobRunner::AfterEvent(const v1::Event& event) {
  jobs::NoteRecorded(event, job_, seen_);
  if (event.has_launched()) {
    for (const replica::v1::ReplicaId& id : event.launched().replicas())
      links_[static_cast<std::size_t>(FindReplica(job_, cluster::TaskName(id)))] = nullptr;
  } else if (event.has_replica_ended()) {
    int replica = FindReplica(job_, cluster::TaskName(event.replica_ended().replica()));
    if (const auto& link = links_[static_cast<std::size_t>(replica)]) Dismiss(*link);
    attempts_.OnRecorded(replica, event.replica_ended().attempt());
  } else if (event.has_ended()) {
    room_.Release();
    Diagnose(job_.has_trial() ? DiagnosticLevel::kDebug : DiagnosticLevel::kInfo, EndText(job_));
  }
  if (on_change_) on_change_(*this);
}

void JobRunner::OnHello(std::shared_ptr<engine::ReplicaLink> link, int replica, int attempt,
                        replica::v1::Phase phase) {
  if (!IsOpen(replica, attempt)) return DismissOrphan(*link, phase);
  auto index = static_cast<std::size_t>(replica);
  jobs::ReplicaObservation& seen = seen_.replicas[index];
  seen.started = true;
  seen.trouble.clear();
  seen.phase = std::max(seen.phase, phase);
  if (!seen.last_output) seen.last_output = outside_.clock.Now();
  seen.cluster_sent = seen.stop_sent = seen.hurry_sent = seen.kill_sent = false;
  links_[index] = std::move(link);
  wake_.Set();
}

void JobRunner::OnFrame(engine::ReplicaLink& link, int replica, int attempt, engine::FromReplica frame) {
  if (!IsOpen(replica, attempt)) return AnswerOrphan(link, frame);
  if (frame.has_phase_changed()) {
    replica::v1::Phase& phase = Seen(replica).phase;
    phase = std::max(phase, frame.phase_changed().phase());
    if (frame.phase_changed().has_endpoint()) Seen(replica).endpoint = frame.phase_changed().endpoint();
    wake_.Set();
  } else if (frame.has_exit()) {
    SetExit(replica, attempt, std::move(*frame.mutable_exit()));
  } else if (frame.has_metrics()) {
    TakeReport(replica, attempt, std::move(*frame.mutable_metrics()));
  } else if (frame.has_progress()) {
    Seen(replica).progress = std::move(*frame.mutable_progress());
  } else if (frame.has_usage()) {
    KeepUsage(outside_, job_, {replica, attempt}, std::move(*frame.mutable_usage()));
  }
}

void JobRunner::OnClosed(const engine::ReplicaLink* link, int replica) {
  std::shared_ptr<engine::ReplicaLink>& current = links_[static_cast<std::size_t>(replica)];
  if (current.get() != link) return;
  current = nullptr;
  attempts_.OnDetached(replica, job_.replicas(replica).attempt());
}

/// Returns whether the exit is new.
bool JobRunner::SetExit(int replica, int attempt, replica::v1::ExitRecord exit) {
  if (!IsOpen(replica, attempt)) return false;
  jobs::ReplicaObservation& seen = Seen(replica);
  if (seen.exit) return false;
  if (trial_ && exit.has_metrics()) TakeReport(replica, attempt, exit.metrics());  // else the last value
  if (exit.cause() == replica::v1::ExitRecord::LOST) DiagnoseLost(exit);
  seen.exit = std::move(exit);
  seen.phase = replica::v1::ENDED;
  ForgetUsage(outside_, job_, replica);
  wake_.Set();
  return true;
}

v1::JobStatus JobRunner::Describe() const {
  return MakeStatus(
      job_,
      {.seen = &seen_, .waiting = WhyWaiting(), .usage = outside_.kept.usage, .now = outside_.clock.Now()});
}

bool JobRunner::IsOpen(int replica, int attempt) const {
  return job_.replicas(replica).attempt() == attempt && !job_.replicas(replica).has_exit();
}

}  // namespace trainyard::control
