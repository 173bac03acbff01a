#include "engine/agent/slot_end.h"

#include <gtest/gtest.h>

namespace trainyard::agent {
namespace {

using std::chrono::seconds;

const SysTime kNow{seconds(1'000'000)};
const SysTime kLimit = kNow + seconds(100);

TEST(EndPlan, ASignalLeavesLittleTime) {
  const EndPlan plan{.reason = "the cluster ends the slot", .deadline = kNow + kSignalWaitMax};
  EXPECT_EQ(PlanEnd(EndCause::kSignal, kNow, kLimit), plan);
  EXPECT_EQ(PlanEnd(EndCause::kSignal, kNow, std::nullopt), plan);
}

TEST(EndPlan, OthersHaveUntilTheLimit) {
  EXPECT_EQ(
      PlanEnd(EndCause::kTimeLimit, kNow, kLimit),
      (EndPlan{.is_time_limit = true, .reason = "the cluster's time limit is reached", .deadline = kLimit}));
  EXPECT_EQ(PlanEnd(EndCause::kRelease, kNow, kLimit, "the job has ended"),
            (EndPlan{.is_told = false, .reason = "the job has ended", .deadline = kLimit}));
  EXPECT_EQ(PlanEnd(EndCause::kRelease, kNow, std::nullopt).deadline, SysTime::max());
}

TEST(EndPlan, TheEarlierDeadlineCounts) {
  const EndPlan release = PlanEnd(EndCause::kRelease, kNow, kLimit);
  const EndPlan signal = PlanEnd(EndCause::kSignal, kNow, kLimit);
  EXPECT_EQ(Combine(release, signal),
            (EndPlan{.is_told = false, .reason = release.reason, .deadline = signal.deadline}));
  EXPECT_EQ(Combine(signal, release), signal);
}

}  // namespace
}  // namespace trainyard::agent
