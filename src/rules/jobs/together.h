#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/jobs/decide.h"
#include "rules/jobs/time_limits.h"
#include "trainyard/control/v1/record.pb.h"

/// Which events of a job are stored in one transaction: an event, and those that follow from it without a new
/// observation and without anything to perform in between. Pure: any thread.
namespace trainyard::jobs {

/// An event as it is stored, and the record after it.
struct Step {
  control::v1::Event event;
  control::v1::JobRecord after;
};
/// In order; never empty once made.
using Steps = std::vector<Step>;

[[nodiscard]] std::vector<control::v1::Event> EventsOf(const Steps& steps);

/// Enough for a job of one replica that has ended before it was seen running; a gang takes several times.
inline constexpr std::size_t kStepsMax = 8;

/// What is known of the job when an event becomes part of its record: a replica that was launched is another
/// attempt, of which nothing has been seen.
void NoteRecorded(const control::v1::Event& event, const control::v1::JobRecord& after, Observation& seen);

/// `job` after one more event, whose seq and time this sets. Errors as Apply.
[[nodiscard]] Result<Step> StepAfter(const control::v1::JobRecord& job, control::v1::Event event,
                                     SysTime now);

/// Adds the steps that follow from the last one, up to kStepsMax: events that the rules record at once, all
/// at the time `now`. `seen` is as it was before the first step. An event that the record does not accept
/// ends the steps, and so do a restart, a retry and the end of a gang: the rules decide about them again, by
/// what has been heard in the meantime (a node that is lost, for example).
void AddFollowing(Steps& steps, Observation seen, const JumpedSince& jumped_since, SysTime now);

}  // namespace trainyard::jobs
