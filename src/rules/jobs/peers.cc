#include "rules/jobs/peers.h"

#include <algorithm>
#include <csignal>

#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/failure_message.h"
#include "rules/jobs/restart_policy.h"

namespace trainyard::jobs {
namespace {

using control::v1::FormerEnd;
using control::v1::JobRecord;
using control::v1::ReplicaRecord;
using replica::v1::ExitRecord;

/// What an end may do to the replica's peers, the strongest first.
enum class Force {
  kMoved,    ///< maintenance or shutdown: the job has no part in it
  kKilled,   ///< from outside of the program: by a signal that no program sends itself when a peer is lost
  kCrashed,  ///< by itself: it may be the cause, or an effect of an earlier end
  kNone,
};

/// The signal that ended the program, also as a shell reports it (128 and the number); 0: none.
int SignalOf(const ExitRecord& exit) {
  if (exit.cause() == ExitRecord::SIGNALED) return exit.signal();
  return exit.cause() == ExitRecord::EXITED ? SignalOfStatus(exit.exit_code()) : 0;
}

Force ForceOf(const ExitRecord& exit, bool uncounted) {
  if (exit.shortage() || JudgeExit(exit) != Verdict::kTransient) return Force::kNone;
  if (uncounted) return Force::kMoved;
  switch (SignalOf(exit)) {
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP: return Force::kKilled;
    default: break;
  }
  const bool by_itself = exit.cause() == ExitRecord::EXITED || exit.cause() == ExitRecord::SIGNALED;
  return by_itself ? Force::kCrashed : Force::kKilled;
}

/// How programs end that have lost a peer: an uncaught exception, exit(-1), abort().
bool IsEffect(const ExitRecord& exit) {
  constexpr int kException = 1;
  constexpr int kMinusOne = 255;
  if (exit.cause() == ExitRecord::EXITED && (exit.exit_code() == kException || exit.exit_code() == kMinusOne))
    return true;
  return SignalOf(exit) == SIGABRT;
}

/// An end, as its replica's peers may have seen it.
struct End {
  Force force = Force::kNone;
  SysTime recorded;
  const ReplicaRecord* replica = nullptr;
  const ExitRecord* exit = nullptr;  ///< null: it is being stopped
};

/// The end of the current attempt, or that it is being stopped for maintenance.
End CurrentEnd(const ReplicaRecord& replica, SysTime now) {
  if (replica.attempt() == 0 || replica.restarting()) return {};
  if (!replica.has_exit())
    return {
        .force = replica.maintenance() ? Force::kMoved : Force::kNone, .recorded = now, .replica = &replica};
  return {.force = ForceOf(replica.exit(), !CountsAsRestart(replica)),
          .recorded = wire::FromProto(replica.ended_time()),
          .replica = &replica,
          .exit = &replica.exit()};
}

End PastEnd(const ReplicaRecord& replica) {
  const FormerEnd& former = replica.former();
  if (!replica.has_former()) return {};
  return {.force = ForceOf(former.exit(), former.uncounted()),
          .recorded = wire::FromProto(former.ended_time()),
          .replica = &replica,
          .exit = &former.exit()};
}

/// Supervisors of several machines write end times by several clocks; what the order decides is only whether
/// a crash came first.
bool EndedEarlier(const ExitRecord& cause, const ExitRecord& effect) {
  if (!cause.has_end_time() || !effect.has_end_time()) return true;
  return wire::FromProto(cause.end_time()) <= wire::FromProto(effect.end_time());
}

bool Explains(const End& end, const ReplicaRecord& failed) {
  if (end.force == Force::kNone) return false;
  const std::chrono::nanoseconds apart = end.recorded - wire::FromProto(failed.ended_time());
  if (std::chrono::abs(apart) > kPeerWindow) return false;
  const bool crashed = end.force == Force::kCrashed;
  // A replica that was killed may not find its way back to its peers. One that crashed has itself to blame.
  if (end.replica == &failed) return !crashed;
  return !crashed || EndedEarlier(*end.exit, failed.exit());
}

FirstCause CauseOf(const End& end) {
  ReplicaRecord ended;
  *ended.mutable_id() = end.replica->id();
  if (end.exit != nullptr) *ended.mutable_exit() = *end.exit;
  if (end.force != Force::kMoved) return {.sentence = FailureSentence(ended)};
  const bool shut_down = end.exit != nullptr && end.exit->cause() == ExitRecord::SHUT_DOWN;
  return {.sentence = "The replica " + cluster::ReplicaLabel(ended.id()) +
                      (shut_down ? " was stopped by its machine (shutdown, service stop or logout)."
                                 : " was stopped for maintenance."),
          .uncounted = true};
}

bool IsEffectOfPeers(const ReplicaRecord& failed) {
  return IsPeer(failed) && RanUserCode(failed.exit()) && IsEffect(failed.exit()) && failed.has_ended_time();
}

}  // namespace

bool IsPeer(const ReplicaRecord& replica) {
  return replica.id().type() == replica::v1::MASTER || replica.id().type() == replica::v1::WORKER;
}

FormerEnd FormerEndOf(const ReplicaRecord& replica) {
  FormerEnd former;
  former.mutable_exit()->set_cause(replica.exit().cause());
  former.mutable_exit()->set_exit_code(replica.exit().exit_code());
  former.mutable_exit()->set_signal(replica.exit().signal());
  former.mutable_exit()->set_shortage(replica.exit().shortage());
  if (replica.exit().has_end_time()) *former.mutable_exit()->mutable_end_time() = replica.exit().end_time();
  *former.mutable_ended_time() = replica.ended_time();
  former.set_uncounted(!CountsAsRestart(replica));
  return former;
}

std::optional<FirstCause> CauseAmongPeers(const JobRecord& job, const ReplicaRecord& failed) {
  if (!IsEffectOfPeers(failed)) return std::nullopt;
  if (std::ranges::count_if(job.replicas(), IsPeer) < 2) return std::nullopt;
  const SysTime failed_time = wire::FromProto(failed.ended_time());
  End first;
  for (const ReplicaRecord& replica : job.replicas()) {
    if (!IsPeer(replica)) continue;
    const End current = &replica == &failed ? End{} : CurrentEnd(replica, failed_time);
    for (const End& end : {current, PastEnd(replica)}) {
      if (!Explains(end, failed)) continue;
      if (first.replica == nullptr ||
          std::tie(end.force, end.recorded) < std::tie(first.force, first.recorded))
        first = end;
    }
  }
  if (first.replica == nullptr) return std::nullopt;
  return CauseOf(first);
}

std::optional<SysTime> HeldUntil(const JobRecord& job, const ReplicaRecord& failed, bool peers_unheard) {
  if (!IsEffectOfPeers(failed)) return std::nullopt;
  const bool others_run = std::ranges::any_of(job.replicas(), [&failed](const ReplicaRecord& replica) {
    const bool ended = replica.has_exit() && !replica.restarting();
    return &replica != &failed && IsPeer(replica) && !ended;
  });
  if (!others_run) return std::nullopt;
  return peers_unheard ? SysTime::max() : wire::FromProto(failed.ended_time()) + kHoldBack;
}

}  // namespace trainyard::jobs
