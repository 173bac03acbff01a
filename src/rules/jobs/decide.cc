#include "rules/jobs/decide.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/overloaded.h"
#include "base/wire/time.h"
#include "rules/jobs/failure_message.h"
#include "rules/jobs/peers.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/time_limits.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using control::v1::ReplicaRecord;
using ml::v1::Job;

/// One replica: its record, and the observation of its current attempt.
struct Replica {
  int position;
  const ReplicaRecord& record;
  const ReplicaObservation& seen;

  [[nodiscard]] bool launched() const { return record.attempt() > 0 && !record.restarting(); }
  /// Whether its supervisor may run. It does not if the attempt was launched but never started.
  [[nodiscard]] bool alive() const { return launched() && !record.has_exit() && seen.started; }
  /// When its next attempt may start; nullopt if it has started or need not wait.
  [[nodiscard]] std::optional<SysTime> not_before(SysTime now) const {
    return launched() ? std::nullopt : PauseEnd(record, now);
  }
  [[nodiscard]] bool running() const { return alive() && seen.phase == replica::v1::RUNNING; }
  /// Whether its end was observed but is not recorded yet.
  [[nodiscard]] bool exit_is_news() const {
    return launched() && !record.has_exit() && seen.exit.has_value();
  }
  /// Whether user code ran in the current attempt and has ended.
  [[nodiscard]] bool has_run() const {
    if (!launched()) return false;
    if (record.has_exit()) return RanUserCode(record.exit());
    return seen.exit && RanUserCode(*seen.exit);
  }
};

std::vector<Replica> Replicas(const JobRecord& job, const Observation& seen) {
  TY_CHECK(seen.replicas.size() == static_cast<std::size_t>(job.replicas_size()));
  std::vector<Replica> replicas;
  replicas.reserve(seen.replicas.size());
  for (int i = 0; i < job.replicas_size(); ++i) {
    replicas.push_back({i, job.replicas(i), seen.replicas[static_cast<std::size_t>(i)]});
  }
  return replicas;
}

std::vector<Action> Append(Event event) {
  std::vector<Action> actions;
  actions.emplace_back(AppendEvent{std::move(event)});
  return actions;
}

std::optional<Event> ExitNews(const std::vector<Replica>& replicas) {
  for (const Replica& replica : replicas) {
    if (!replica.exit_is_news()) continue;
    Event event;
    Event::ReplicaEnded& ended = *event.mutable_replica_ended();
    *ended.mutable_replica() = replica.record.id();
    ended.set_attempt(replica.record.attempt());
    *ended.mutable_exit() = *replica.seen.exit;
    if (replica.seen.endpoint) *ended.mutable_endpoint() = *replica.seen.endpoint;
    return event;
  }
  return std::nullopt;
}

/// PREPARING -> RUNNING: user code runs, or has run, on every replica. A master that has ended is enough: the
/// job is over.
bool IsRunning(const std::vector<Replica>& replicas) {
  bool all = true;
  for (const Replica& replica : replicas) {
    if (replica.record.id().type() == replica::v1::MASTER && replica.has_run()) return true;
    const bool runs =
        replica.running() && replica.seen.endpoint;  // its supervisor reports both, one after the other
    if (!runs && !replica.has_run()) all = false;
  }
  return all;
}

Event CancelFor(std::string reason) {
  Event event;
  event.mutable_cancel_requested()->set_reason(std::move(reason));
  return event;
}

std::optional<Event> LimitReached(const JobRecord& job, SysTime now) {
  const std::optional<TimeLimit> limit = NextTimeLimit(job);
  if (!limit || now < limit->time) return std::nullopt;
  return CancelFor(limit->reason);
}

std::optional<Event> Launch(const std::vector<Replica>& replicas, SysTime now) {
  Event event;
  for (const Replica& replica : replicas) {
    if (!replica.launched() && replica.not_before(now).value_or(now) <= now)
      *event.mutable_launched()->add_replicas() = replica.record.id();
  }
  if (!event.has_launched()) return std::nullopt;
  return event;
}

void AddStarts(const std::vector<Replica>& replicas, std::vector<Action>& actions) {
  for (const Replica& replica : replicas) {
    if (replica.launched() && !replica.record.has_exit() && !replica.seen.started) {
      actions.emplace_back(StartReplica{replica.position});
    }
  }
}

/// Records the endpoints of the replicas, for use when the replicas are no longer reachable.
Event RunningEvent(const std::vector<Replica>& replicas) {
  Event event;
  Event::Running& running = *event.mutable_running();
  for (const Replica& replica : replicas) {
    if (replica.seen.endpoint) *running.add_endpoints() = *replica.seen.endpoint;
  }
  return event;
}

/// Asks for resources, or records the engine's response; no action while there is none.
std::vector<Action> Reserve(const JobRecord& job, const Observation& seen) {
  const int next_try = job.try_number() + 1;
  if (seen.grant && seen.grant->try_number() == next_try) {
    Event event;
    *event.mutable_admitted()->mutable_grant() = *seen.grant;
    event.mutable_admitted()->set_runtime_version(seen.runtime_version);
    return Append(std::move(event));
  }
  if (seen.asked_try >= next_try) return {};
  return {ReserveRoom{next_try}};
}

Event FailFor(std::string message) {
  Event event;
  event.mutable_concluded()->set_outcome(Job::FAILED);
  event.mutable_concluded()->set_error_message(std::move(message));
  return event;
}

/// The event after the engine has revoked or refused the job's resources: the job asks again, or ends.
std::optional<Event> AfterTakenBack(const JobRecord& job, const Observation& seen) {
  const int known_try = job.reserved() ? job.try_number() : job.try_number() + 1;
  const bool has_outcome = job.outcome() != Job::STATE_UNSPECIFIED;
  if (!seen.taken_back || seen.taken_back->try_number != known_try) return std::nullopt;
  const TakenBack& taken = *seen.taken_back;
  using placement::RoomEnd;
  // If the job starts again anyway, exits that were recorded meanwhile do not count.
  const bool asks_again = taken.kind == RoomEnd::kLost || taken.kind == RoomEnd::kPreempted ||
                          (taken.kind == RoomEnd::kOutOfMemory && job.retrying());
  if (job.reserved() && (asks_again || has_outcome)) {
    Event event;
    event.mutable_revoked()->set_try_number(taken.try_number);
    event.mutable_revoked()->set_reason(taken.reason);
    return event;
  }
  if (asks_again || has_outcome) return std::nullopt;
  switch (taken.kind) {
    case RoomEnd::kTimeLimit:
      return CancelFor(taken.reason +
                       " Raise scheduling.maxRunningTime, or use a partition that lets jobs run longer.");
    case RoomEnd::kDeadline:
      return CancelFor(taken.reason +
                       " Raise scheduling.maxWaitTime, or free the resources that it waited for.");
    case RoomEnd::kOutOfMemory: return FailFor(taken.reason + " Use a machine type with more memory.");
    case RoomEnd::kCannotStart: return FailFor(taken.reason);
    case RoomEnd::kCancelled:
    case RoomEnd::kLost:
    case RoomEnd::kPreempted: break;
  }
  return CancelFor(taken.reason);
}

/// The barrier opens when the whole gang waits at it. It stays open once user code runs on any replica: a
/// restarted replica does not wait.
void AddBarrier(const std::vector<Replica>& replicas, std::vector<Action>& actions) {
  bool all_ready = true;
  bool open = false;
  for (const Replica& replica : replicas) {
    const bool ended = replica.launched() && replica.record.has_exit();
    const bool ready = replica.alive() && replica.seen.phase >= replica::v1::READY;
    if (ready && !replica.seen.endpoint) return;  // its supervisor reports it next
    if (!ended && !ready) all_ready = false;
    if (replica.running() || replica.has_run()) open = true;
  }
  if (!all_ready && !open) return;
  for (const Replica& replica : replicas) {
    if (replica.alive() && replica.seen.phase == replica::v1::READY && !replica.seen.cluster_sent) {
      actions.emplace_back(OpenBarrier{replica.position});
    }
  }
}

/// Adds a time to wake at; the earlier of two counts.
void WakeNoLaterThan(SysTime time, std::vector<Action>& actions) {
  for (Action& action : actions) {
    auto* wake = std::get_if<WakeAt>(&action);
    if (wake == nullptr) continue;
    wake->time = std::min(wake->time, time);
    return;
  }
  actions.emplace_back(WakeAt{time});
}

/// Adds the time limit to the actions.
std::vector<Action> WithLimit(const JobRecord& job, std::vector<Action> actions) {
  const std::optional<TimeLimit> limit = NextTimeLimit(job);
  if (!limit) return actions;
  if (!actions.empty() && std::holds_alternative<AppendEvent>(actions.back())) return actions;
  WakeNoLaterThan(limit->time, actions);
  return actions;
}

/// Tells a running replica to stop, and kills it if it does not.
void AddStop(const Replica& replica, StopReplica stop, SysTime now, std::vector<Action>& actions) {
  // A supervisor that is not connected has not received the stop, and its replica does not end by itself.
  const std::chrono::milliseconds patience = replica.seen.away ? std::chrono::milliseconds(0) : kKillAfter;
  const std::optional<SysTime> kill_time =
      replica.seen.stop_time ? std::optional(*replica.seen.stop_time + patience) : std::nullopt;
  stop.replica = replica.position;
  stop.kill = kill_time && now >= *kill_time;
  stop.hurry = !stop.kill && stop.short_grace && replica.seen.stop_time && now >= *replica.seen.stop_time;
  if (kill_time && !stop.kill)
    WakeNoLaterThan(stop.short_grace && !stop.hurry ? *replica.seen.stop_time : *kill_time, actions);
  const bool sent = stop.kill    ? replica.seen.kill_sent
                    : stop.hurry ? replica.seen.hurry_sent
                                 : replica.seen.stop_sent;
  if (!sent) actions.emplace_back(std::move(stop));
}

/// Tells replicas under maintenance to stop.
void AddMoves(const std::vector<Replica>& replicas, SysTime now, std::vector<Action>& actions) {
  for (const Replica& replica : replicas) {
    if (!replica.alive() || !replica.record.maintenance()) continue;
    AddStop(replica, {.reason = "Host maintenance."}, now, actions);
  }
}

void AddPauses(const std::vector<Replica>& replicas, SysTime now, std::vector<Action>& actions) {
  for (const Replica& replica : replicas) {
    if (const auto time = replica.not_before(now)) WakeNoLaterThan(*time, actions);
  }
}

std::vector<Action> ActionsOf(ImageStep step) {
  return std::visit(Overloaded{[](Event& event) { return Append(std::move(event)); },
                               [](ResolveImages resolve) { return std::vector<Action>{resolve}; },
                               [](SysTime time) { return std::vector<Action>{WakeAt{time}}; },
                               [](AwaitImages) { return std::vector<Action>{}; }},
                    step);
}

/// Resources are only requested when the images are known.
std::vector<Action> WhileQueued(const JobRecord& job, const Observation& seen, SysTime now) {
  if (std::optional<Event> cancel = LimitReached(job, now)) return Append(*std::move(cancel));
  if (std::optional<ImageStep> step = NextImageStep(job, seen.images, now))
    return WithLimit(job, ActionsOf(*std::move(step)));
  return WithLimit(job, Reserve(job, seen));
}

bool PeersUnheard(const std::vector<Replica>& replicas) {
  return std::ranges::any_of(replicas, [](const Replica& replica) {
    return IsPeer(replica.record) && replica.alive() && replica.seen.away;
  });
}

std::vector<Action> WhileLive(const JobRecord& job, const Observation& seen,
                              const std::vector<Replica>& replicas, SysTime now) {
  if (job.job().state() == Job::PREPARING && IsRunning(replicas)) {
    return Append(RunningEvent(replicas));
  }
  if (std::optional<Event> ended = ExitNews(replicas)) return Append(*std::move(ended));
  const ExitContext context{
      .now = now, .first_pause = seen.restart_pause, .peers_unheard = PeersUnheard(replicas)};
  if (std::optional<Event> decided = DecideOnExits(job, context)) return Append(*std::move(decided));
  if (std::optional<Event> cancel = LimitReached(job, now)) return Append(*std::move(cancel));
  std::vector<Action> actions;
  if (!seen.disk_full.empty() && WaitsToStart(job, seen)) {  // its output would be lost
    WakeNoLaterThan(now + seen.retry_pause, actions);
  } else {
    if (std::optional<Event> launch = Launch(replicas, now)) return Append(*std::move(launch));
    AddStarts(replicas, actions);
  }
  AddBarrier(replicas, actions);
  AddMoves(replicas, now, actions);
  AddPauses(replicas, now, actions);
  if (const auto time = NextJudgement(job, context.peers_unheard); time && *time != SysTime::max())
    WakeNoLaterThan(*time, actions);
  return WithLimit(job, std::move(actions));
}

/// Stops everything that runs; `then` follows when nothing runs any more.
std::vector<Action> WhileStopping(const std::vector<Replica>& replicas, const StopReplica& stop, Event then,
                                  SysTime now) {
  if (std::optional<Event> ended = ExitNews(replicas)) return Append(*std::move(ended));
  std::vector<Action> actions;
  bool living = false;
  for (const Replica& replica : replicas) {
    if (!replica.alive()) continue;
    living = true;
    AddStop(replica, stop, now, actions);
  }
  if (!living) return Append(std::move(then));
  return actions;
}

Event EndedEvent() {
  Event event;
  event.mutable_ended();
  return event;
}

/// Stops everything that runs; then the whole gang starts again, with its current resources or new ones.
std::vector<Action> WhileRetrying(const JobRecord& job, const Observation& seen,
                                  const std::vector<Replica>& replicas, SysTime now) {
  if (std::optional<Event> cancel = LimitReached(job, now)) return Append(*std::move(cancel));
  Event retry_started;
  retry_started.mutable_retry_started();
  std::vector<Action> actions =
      WhileStopping(replicas, {.reason = "The whole job is started again."}, std::move(retry_started), now);
  const auto* append = actions.empty() ? nullptr : std::get_if<AppendEvent>(&actions.back());
  const bool all_ended = append != nullptr && append->event.has_retry_started();
  if (all_ended && !job.reserved()) actions = Reserve(job, seen);
  return WithLimit(job, std::move(actions));
}

/// A trial that ran does not end before its measurements are known.
std::vector<Action> MeasureFirst(const JobRecord& job, const Observation& seen, std::vector<Action> actions) {
  const bool measures = job.has_trial() && job.job().has_start_time() && !job.trial().has_report();
  const auto* append = actions.empty() ? nullptr : std::get_if<AppendEvent>(&actions.back());
  if (!measures || append == nullptr || !append->event.has_ended()) return actions;
  if (!seen.measured) return {MeasureTrial{}};
  Event event;
  *event.mutable_trial_measured() = *seen.measured;
  return Append(std::move(event));
}

}  // namespace

StopReplica StopOf(const JobRecord& job) {
  if (job.outcome() == Job::CANCELLED)
    return {.reason = "The job is being cancelled. " + job.job().error_message()};
  if (job.trial().stopped_early())
    return {.reason = "The trial is stopped early. " + job.job().error_message()};
  if (job.outcome() == Job::SUCCEEDED) return {.reason = "The job has succeeded.", .short_grace = true};
  return {.reason = "The job has failed."};
}

std::optional<SysTime> HeldFailure(const JobRecord& job, const Observation& seen) {
  const Stage stage = StageOf(job);
  if (stage != Stage::kPreparing && stage != Stage::kRunning) return std::nullopt;
  return NextJudgement(job, PeersUnheard(Replicas(job, seen)));
}

bool WaitsToStart(const JobRecord& job, const Observation& seen) {
  const std::vector<Replica> replicas = Replicas(job, seen);
  return std::ranges::any_of(replicas, [](const Replica& replica) {
    return !replica.launched() || (!replica.record.has_exit() && !replica.seen.started);
  });
}

std::vector<Action> NextActions(const JobRecord& job, const Observation& seen, SysTime now) {
  const std::vector<Replica> replicas = Replicas(job, seen);
  if (std::optional<Event> over = AfterTakenBack(job, seen)) return Append(*std::move(over));
  switch (StageOf(job)) {
    case Stage::kQueued: return WhileQueued(job, seen, now);
    case Stage::kPreparing:
    case Stage::kRunning: return WhileLive(job, seen, replicas, now);
    case Stage::kRetrying: return WhileRetrying(job, seen, replicas, now);
    case Stage::kFinishing:
    case Stage::kCancelling:
      return MeasureFirst(job, seen, WhileStopping(replicas, StopOf(job), EndedEvent(), now));
    case Stage::kNone:
    case Stage::kEnded:
    case Stage::kResumed: return {};
  }
  return {};
}

}  // namespace trainyard::jobs
