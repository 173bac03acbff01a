#include "rules/jobs/restart_policy.h"

#include <algorithm>
#include <string>

#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/failure_message.h"
#include "rules/jobs/peers.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using control::v1::ReplicaRecord;
using ml::v1::Job;

/// The exit of the current attempt, if nothing was decided about it yet.
const replica::v1::ExitRecord* OpenExit(const ReplicaRecord& replica) {
  return replica.has_exit() && !replica.restarting() ? &replica.exit() : nullptr;
}

Event Conclude(Job::State outcome, std::string error_message) {
  Event event;
  event.mutable_concluded()->set_outcome(outcome);
  event.mutable_concluded()->set_error_message(std::move(error_message));
  return event;
}

std::string Count(int number, int most) { return std::to_string(number) + " of " + std::to_string(most); }

/// The failure, with the supervisor's or the engine's message if the exit status alone does not explain it.
std::string WhyItEnded(const ReplicaRecord& replica) {
  using replica::v1::ExitRecord;
  const ExitRecord& exit = replica.exit();
  std::string text = FailureSentence(replica);
  if (exit.cause() == ExitRecord::EXITED || exit.cause() == ExitRecord::SIGNALED) return text;
  const std::size_t size = exit.message().find_last_not_of(" \n") + 1;
  if (size == 0) return text;
  text += " Reason: " + exit.message().substr(0, size);
  return text.ends_with('.') ? text : text + ".";
}

/// "3 s", "1.5 s".
std::string Seconds(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (const auto rest = time.count() % 1000; rest != 0) {
    std::string digits = std::to_string(1000 + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + " s";
}

/// The classifier's diagnosis, unless the sentence has it already.
std::string Why(const ReplicaRecord& replica) {
  const std::string& summary = replica.exit().diagnosis().summary();
  return summary.empty() ? "" : " Why: " + summary;
}

Event Restart(const ReplicaRecord& replica, std::string reason) {
  Event event;
  *event.mutable_restart_decided()->mutable_replica() = replica.id();
  event.mutable_restart_decided()->set_reason(std::move(reason));
  return event;
}

Event AfterMove(const ReplicaRecord& replica) {
  const std::string_view why = replica.maintenance()
                                   ? " has stopped for maintenance"
                                   : " was stopped by its machine (shutdown, service stop or logout)";
  return Restart(replica, "The replica " + cluster::ReplicaLabel(replica.id()) + std::string(why) +
                              " and starts again. This does not count as a restart.");
}

/// The event for a start that failed before a user's program ran.
Event AfterShortage(const ReplicaRecord& replica, SysTime now) {
  Event event =
      Restart(replica, "The replica " + cluster::ReplicaLabel(replica.id()) +
                           " could not be started: " + replica.exit().message() + ". It is retried in " +
                           Seconds(kShortagePause) + ". This does not count as a restart.");
  *event.mutable_restart_decided()->mutable_not_before() = wire::ToProto(now + kShortagePause);
  return event;
}

Event AfterTransientFailure(const JobRecord& job, const ReplicaRecord& replica, const ExitContext& context) {
  Event event;
  const std::string sentence = WhyItEnded(replica);
  if (replica.restarts() < kRestartsMax) {
    const std::chrono::milliseconds pause = RestartPause(replica.restarts(), context.first_pause);
    const std::string when = pause.count() == 0 ? "" : "in " + Seconds(pause) + " ";
    event = Restart(replica, sentence + " The replica is restarted " + when + "(" +
                                 Count(replica.restarts() + 1, kRestartsMax) + ")." + Why(replica));
    if (pause.count() > 0)
      *event.mutable_restart_decided()->mutable_not_before() = wire::ToProto(context.now + pause);
  } else if (job.retries() < kRetriesMax) {
    event.mutable_retry_decided()->set_reason(sentence + " The replica was restarted " +
                                              std::to_string(kRestartsMax) +
                                              " times; now the whole job is retried (" +
                                              Count(job.retries() + 1, kRetriesMax) + ")." + Why(replica));
  } else {
    return Conclude(Job::FAILED, FailureMessage(job));
  }
  return event;
}

bool IsHeld(const JobRecord& job, const ReplicaRecord& replica, const ExitContext& context) {
  const std::optional<SysTime> until = HeldUntil(job, replica, context.peers_unheard);
  return until && context.now < *until;
}

/// The whole gang starts again for what one of it did not do; after too many crashes the job fails.
Event AfterPeersEnd(const JobRecord& job, const ReplicaRecord& failed, const FirstCause& cause) {
  if (!cause.uncounted && job.retries() >= kRetriesMax)
    return Conclude(Job::FAILED, "First cause: " + cause.sentence + "\n" + FailureMessage(job));
  const std::string count = cause.uncounted ? "This does not count as a retry."
                                            : "This is retry " + Count(job.retries() + 1, kRetriesMax) + ".";
  Event event;
  event.mutable_retry_decided()->set_uncounted(cause.uncounted);
  event.mutable_retry_decided()->set_reason(
      cause.sentence + " Without it the replica " + cluster::ReplicaLabel(failed.id()) +
      " failed, too. All replicas start again and can continue from their last checkpoint. " + count);
  return event;
}

/// The failures that are judged now.
struct Judgement {
  const ReplicaRecord* transient = nullptr;  ///< the first of those that count
  const ReplicaRecord* moved = nullptr;      ///< the last of those that do not
  bool permanent = false;                    ///< one that no peer's end explains
  bool succeeded = false;                    ///< the master exited with 0
  std::optional<Event> peers_end;
};

Judgement Judge(const JobRecord& job, const ExitContext& context) {
  Judgement result;
  for (const ReplicaRecord& replica : job.replicas()) {
    if (OpenExit(replica) == nullptr) continue;
    const Verdict verdict = JudgeEnd(replica);
    if (verdict == Verdict::kDone) {
      if (replica.id().type() == replica::v1::MASTER) result.succeeded = true;
    } else if (const auto cause = CauseAmongPeers(job, replica)) {
      if (!result.peers_end) result.peers_end = AfterPeersEnd(job, replica, *cause);
    } else if (verdict == Verdict::kPermanent) {
      if (!IsHeld(job, replica, context)) result.permanent = true;
    } else if (!CountsAsRestart(replica)) {
      result.moved = &replica;
    } else if (result.transient == nullptr) {
      result.transient = &replica;
    }
  }
  return result;
}

constexpr int kNamesMax = 16;

Error NoSuchReplica(const control::v1::JobRecord& job, std::string_view task_name) {
  std::string names;
  for (int i = 0; i < std::min(job.replicas_size(), kNamesMax); ++i)
    names += (i == 0 ? "" : ", ") + cluster::TaskName(job.replicas(i).id());
  if (job.replicas_size() > kNamesMax) names += ", ...";
  return {Code::kNotFound,
          "The job " + job.job().job_id() + " has no replica '" + std::string(task_name) + "'. It has " +
              names + ".",
          "replica"};
}

}  // namespace

std::chrono::milliseconds RestartPause(int restarts, std::chrono::milliseconds first) {
  std::chrono::milliseconds pause = restarts == 0 ? std::chrono::milliseconds{0} : first;
  for (int i = 1; i < restarts && pause < kRestartPauseMax; ++i) pause *= 2;
  return std::min(pause, kRestartPauseMax);
}

std::optional<SysTime> PauseEnd(const ReplicaRecord& replica, SysTime now) {
  if (!replica.has_not_before()) return std::nullopt;
  const SysTime end = wire::FromProto(replica.not_before());
  return end > now + kRestartPauseMax ? std::nullopt : std::optional(end);
}

bool CountsAsRestart(const ReplicaRecord& replica) {
  const replica::v1::ExitRecord& exit = replica.exit();
  return !replica.maintenance() && !exit.shortage() && exit.cause() != replica::v1::ExitRecord::SHUT_DOWN;
}

std::optional<Event> DecideOnExits(const JobRecord& job, ExitContext context) {
  const Judgement judged = Judge(job, context);
  if (judged.succeeded) return Conclude(Job::SUCCEEDED, "");
  if (judged.permanent) return Conclude(Job::FAILED, FailureMessage(job));
  if (judged.peers_end) return judged.peers_end;
  if (judged.transient != nullptr) return AfterTransientFailure(job, *judged.transient, context);
  if (judged.moved == nullptr) return std::nullopt;
  const bool is_short = judged.moved->exit().shortage() && !judged.moved->maintenance();
  return is_short ? AfterShortage(*judged.moved, context.now) : AfterMove(*judged.moved);
}

std::optional<SysTime> NextJudgement(const JobRecord& job, bool peers_unheard) {
  std::optional<SysTime> next;
  for (const ReplicaRecord& replica : job.replicas()) {
    if (OpenExit(replica) == nullptr || JudgeEnd(replica) != Verdict::kPermanent) continue;
    const std::optional<SysTime> until = HeldUntil(job, replica, peers_unheard);
    if (until) next = std::min(next.value_or(*until), *until);
  }
  return next;
}

Result<control::v1::Event> MaintenanceOf(const control::v1::JobRecord& job, std::string_view task_name) {
  for (const control::v1::ReplicaRecord& replica : job.replicas()) {
    if (cluster::TaskName(replica.id()) != task_name) continue;
    control::v1::Event event;
    *event.mutable_maintenance_requested()->mutable_replica() = replica.id();
    event.mutable_maintenance_requested()->set_attempt(replica.attempt());
    if (Apply(job, event)) return event;
    const std::string why = replica.maintenance()
                                ? "it is being moved already"
                                : "the job is " + ml::v1::Job::State_Name(job.job().state());
    return std::unexpected(FailedPrecondition("The replica " + std::string(task_name) + " of job " +
                                              job.job().job_id() + " does not run: " + why + "."));
  }
  return std::unexpected(NoSuchReplica(job, task_name));
}

}  // namespace trainyard::jobs
