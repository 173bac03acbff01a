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

TEST(WithoutJumps, AClockThatNeverJumpsChangesNothing) { EXPECT_FALSE(WithoutJumps(Job(), nullptr)); }

}  // namespace
}  // namespace trainyard::jobs
