#include "jobs/restart_policy.h"

#include "jobs/exit_verdict.h"
#include "jobs/failure_message.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using control::v1::ReplicaRecord;
using ml::v1::Job;

/// The end of the current attempt, if nothing was decided about it yet.
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

/// The failure with the supervisor's or the engine's own words, where the replica's status does not say it
/// all.
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

Event AfterTransientFailure(const JobRecord& job, const ReplicaRecord& replica) {
  Event event;
  const std::string sentence = WhyItEnded(replica);
  if (replica.restarts() < kRestartsMax) {
    *event.mutable_restart_decided()->mutable_replica() = replica.id();
    event.mutable_restart_decided()->set_reason(sentence + " The replica is restarted (" +
                                                Count(replica.restarts() + 1, kRestartsMax) + ").");
  } else if (job.retries() < kRetriesMax) {
    event.mutable_retry_decided()->set_reason(
        sentence + " The replica was restarted " + std::to_string(kRestartsMax) +
        " times; now the whole job is retried (" + Count(job.retries() + 1, kRetriesMax) + ").");
  } else {
    return Conclude(Job::FAILED, FailureMessage(job));
  }
  return event;
}

}  // namespace

std::optional<Event> DecideOnExits(const JobRecord& job) {
  const ReplicaRecord* transient = nullptr;
  bool permanent = false;
  for (const ReplicaRecord& replica : job.replicas()) {
    const replica::v1::ExitRecord* exit = OpenExit(replica);
    if (exit == nullptr) continue;
    const Verdict verdict = Judge(*exit);
    if (verdict == Verdict::kDone && replica.id().type() == replica::v1::MASTER)
      return Conclude(Job::SUCCEEDED, "");
    if (verdict == Verdict::kPermanent) permanent = true;
    if (verdict == Verdict::kTransient && transient == nullptr) transient = &replica;
  }
  if (permanent) return Conclude(Job::FAILED, FailureMessage(job));
  if (transient != nullptr) return AfterTransientFailure(job, *transient);
  return std::nullopt;
}

}  // namespace trainyard::jobs
