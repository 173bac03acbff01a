#include "stores/metrics/usage_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::metrics {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SysTime kNow{seconds{1'700'000'030}};

TEST(SpanOf, HasAPartAMinuteAndAtMostSoMany) {
  const MachineSpan day = SpanOf(kNow, hours(24));
  EXPECT_EQ(day.step, seconds(60));
  EXPECT_EQ(day.parts, 1'440U);
  EXPECT_EQ(day.start + day.step * 1'440, SysTime(seconds{1'700'000'040}))
      << "the part that has begun is the last";
  const MachineSpan all = SpanOf(kNow, hours(24 * 42));
  EXPECT_EQ(all.step, seconds(42 * 60));
  EXPECT_EQ(all.parts, 1'440U);
  EXPECT_EQ(SpanOf(kNow, hours(25)).step, seconds(120));
  EXPECT_LE(SpanOf(kNow, hours(25)).parts, kMachinePartsMax);
}

TEST(ColumnsOf, AreMeansAndMinusOneWhereNothingIsKnown) {
  const MachineSpan span{.start = SysTime(seconds{600}), .step = seconds{60}, .parts = 3};
  const std::vector<MachineSample> samples{
      {.time = SysTime(seconds{599}), .cpu_utilization = 1, .memory_utilization = 1, .replicas = 9},
      {.time = SysTime(seconds{600}), .cpu_utilization = 0.5, .memory_utilization = 0.25, .replicas = 1},
      {.time = SysTime(seconds{630}), .cpu_utilization = 0.25, .memory_utilization = 0.75, .replicas = 3},
      {.time = SysTime(seconds{720}), .cpu_utilization = -1, .memory_utilization = 0.5, .replicas = 0},
      {.time = SysTime(seconds{780}), .cpu_utilization = 1, .memory_utilization = 1, .replicas = 9}};
  const MachineColumns columns = ColumnsOf(samples, span);
  EXPECT_THAT(columns.cpu, ElementsAre(0.375F, -1, -1));
  EXPECT_THAT(columns.memory, ElementsAre(0.5F, -1, 0.5F));
  EXPECT_THAT(columns.replicas, ElementsAre(2, -1, 0));
  EXPECT_THAT(columns.gpu, IsEmpty());
  const std::vector<MachineSample> with_gpu{{.time = SysTime(seconds{660}), .gpu_utilization = 0.5}};
  EXPECT_THAT(ColumnsOf(with_gpu, span).gpu, ElementsAre(-1, 0.5F, -1));
}

}  // namespace
}  // namespace trainyard::metrics
