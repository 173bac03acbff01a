#include "rules/jobs/together.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;

/// Whether the event has to wait until those before it are stored. A restart or a retry is decided by what
/// has been heard in the meantime. The end of a gang is said in its log before it is stored; if the server is
/// killed in between, the next one may hear of the replicas' ends in another order, and conclude something
/// else.
bool BeginsATransaction(const Event& event, const JobRecord& job) {
  return event.has_restart_decided() || event.has_retry_decided() ||
         (event.has_ended() && job.replicas_size() > 1);
}

/// The event that is all that there is to do.
std::optional<Event> OnlyEvent(std::vector<Action> actions) {
  if (actions.size() != 1) return std::nullopt;
  auto* append = std::get_if<AppendEvent>(&actions.front());
  if (append == nullptr) return std::nullopt;
  return std::move(append->event);
}

}  // namespace

std::vector<Event> EventsOf(const Steps& steps) {
  std::vector<Event> events;
  events.reserve(steps.size());
  for (const Step& step : steps) events.push_back(step.event);
  return events;
}

void NoteRecorded(const Event& event, const JobRecord& after, Observation& seen) {
  for (const replica::v1::ReplicaId& id : event.launched().replicas()) {
    for (int position = 0; position < after.replicas_size(); ++position) {
      if (cluster::TaskName(after.replicas(position).id()) == cluster::TaskName(id))
        seen.replicas[static_cast<std::size_t>(position)] = {};
    }
  }
}

Result<Step> StepAfter(const JobRecord& job, Event event, SysTime now) {
  event.set_seq(job.revision() + 1);
  *event.mutable_time() = wire::ToProto(now);
  TY_TRY(JobRecord after, Apply(job, event));
  return Step{.event = std::move(event), .after = std::move(after)};
}

void AddFollowing(Steps& steps, Observation seen, const JumpedSince& jumped_since, SysTime now) {
  TY_CHECK(!steps.empty());
  for (const Step& step : steps) NoteRecorded(step.event, step.after, seen);
  while (steps.size() < kStepsMax) {
    const JobRecord& job = steps.back().after;
    const std::optional<JobRecord> moved = WithoutJumps(job, jumped_since);
    std::optional<Event> next = OnlyEvent(NextActions(moved ? *moved : job, seen, now));
    if (!next || BeginsATransaction(*next, job)) return;
    Result<Step> step = StepAfter(job, *std::move(next), now);
    if (!step) return;
    NoteRecorded(step->event, step->after, seen);
    steps.push_back(*std::move(step));
  }
}

}  // namespace trainyard::jobs
