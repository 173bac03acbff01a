#include "rules/jobs/time_limits.h"

#include <gtest/gtest.h>

#include "base/wire/time.h"

namespace trainyard::jobs {
namespace {

using namespace std::chrono_literals;

constexpr SysTime kCreated{std::chrono::seconds(1'800'000'000)};
constexpr SysTime kRuns = kCreated + 1h;

control::v1::JobRecord Job() {
  control::v1::JobRecord job;
  *job.mutable_job()->mutable_create_time() = wire::ToProto(kCreated);
  auto& scheduling = *job.mutable_job()->mutable_training_input()->mutable_scheduling();
  *scheduling.mutable_max_running_time() = wire::ToProto(std::chrono::nanoseconds(2h));
  *scheduling.mutable_max_wait_time() = wire::ToProto(std::chrono::nanoseconds(30min));
  return job;
}

std::chrono::nanoseconds Jump(SysTime since) { return since < kRuns + 1min ? 100h : 0h; }

TEST(WithoutJumps, ALimitMovesByTheJumpSinceItCounts) {
  control::v1::JobRecord job = Job();
  EXPECT_EQ(NextTimeLimit(WithoutJumps(job, Jump).value())->time, kCreated + 30min + 100h);
  *job.mutable_running_time() = wire::ToProto(kRuns);
  EXPECT_EQ(NextTimeLimit(WithoutJumps(job, Jump).value())->time, kRuns + 2h + 100h);
  *job.mutable_running_time() = wire::ToProto(kRuns + 2min);  // it began after the jump
  EXPECT_FALSE(WithoutJumps(job, Jump));
}

/// The clock was ten years ahead at one start, and is right again.
TEST(WithoutJumps, APauseThatWasDecidedByAClockThatWasAheadDoesNotLastForYears) {
  constexpr std::chrono::hours kAhead{24 * 3'650};
  control::v1::JobRecord job = Job();
  control::v1::ReplicaRecord& replica = *job.add_replicas();
  *replica.mutable_ended_time() = wire::ToProto(kRuns + kAhead);
  *replica.mutable_not_before() = wire::ToProto(kRuns + kAhead + 30s);
  const auto back = [kAhead](SysTime since) { return since > kRuns + 1h ? -kAhead : 0h; };
  EXPECT_EQ(wire::FromProto(WithoutJumps(job, back).value().replicas(0).not_before()), kRuns + 30s);
  *replica.mutable_ended_time() = wire::ToProto(kRuns);
  *replica.mutable_not_before() = wire::ToProto(kRuns + 30s);
  EXPECT_FALSE(WithoutJumps(job, back));
}

/// The attempt may have ended before the jump, and the pause been decided after it.
TEST(WithoutJumps, AJumpAheadDoesNotMakeAPauseLonger) {
  control::v1::JobRecord job = Job();
  *job.mutable_running_time() = wire::ToProto(kRuns + 2min);
  control::v1::ReplicaRecord& replica = *job.add_replicas();
  *replica.mutable_ended_time() = wire::ToProto(kRuns);
  *replica.mutable_not_before() = wire::ToProto(kRuns + 100h + 30s);
  EXPECT_FALSE(WithoutJumps(job, Jump));
}

TEST(WithoutJumps, AClockThatNeverJumpsChangesNothing) { EXPECT_FALSE(WithoutJumps(Job(), nullptr)); }

}  // namespace
}  // namespace trainyard::jobs
