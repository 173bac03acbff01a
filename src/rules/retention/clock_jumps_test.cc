#include "rules/retention/clock_jumps.h"

#include <gtest/gtest.h>

namespace trainyard::retention {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::nanoseconds;

constexpr SysTime kStart{std::chrono::seconds(1'800'000'000)};

/// `up`: since the machine's boot; `jumped`: the wall clock's difference from elapsed time.
ClockReading At(nanoseconds up, nanoseconds jumped = 0ns, const char* boot = "one") {
  return {.wall = kStart + up + jumped, .since_boot = up, .boot = boot};
}

struct Row {
  const char* name;
  ClockReading now;
  std::optional<nanoseconds> jump;
};

class ClockJumps : public testing::TestWithParam<Row> {};

TEST_P(ClockJumps, AreWhatTimeDoesNotExplain) {
  ClockHistory history{.last = At(1h)};
  const auto jump = Advance(history, GetParam().now);
  ASSERT_EQ(jump.has_value(), GetParam().jump.has_value());
  if (jump) EXPECT_EQ(jump->after - jump->before, *GetParam().jump);
  EXPECT_EQ(history.unconfirmed, GetParam().jump.value_or(0ns));
  EXPECT_EQ(history.last, GetParam().now);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ClockJumps,
    testing::Values(
        Row{"time_passes", At(days(40)), {}}, Row{"a_time_server_corrects", At(2h, -3min), {}},
        Row{"forward", At(2h, days(100)), days(100)}, Row{"back", At(2h, -1h), -1h},
        Row{"off_for_a_week", {.wall = kStart + 1h + days(7), .since_boot = 1min, .boot = "two"}, {}},
        Row{"off_for_long", {.wall = kStart + 1h + days(30), .since_boot = 1min, .boot = "two"}, days(30)},
        Row{"behind_after_a_start",
            {.wall = kStart - days(9), .since_boot = 1min, .boot = "two"},
            -days(9) - 1h}),
    [](const auto& row) { return row.param.name; });

TEST(ClockHistoryOf, ACorrectionEndsTheDoubt) {
  ClockHistory history{.last = At(1h)};
  Advance(history, At(2h, days(100)));
  EXPECT_EQ(NowForRemoval(history, At(2h, days(100)).wall), kStart + 2h);
  Advance(history, At(3h, 2ms));  // never to the nanosecond
  EXPECT_EQ(history.unconfirmed, 0ns);
  EXPECT_EQ(NowForRemoval(history, At(3h, 2ms).wall), kStart + 3h + 2ms);
}

TEST(ClockHistoryOf, AClockThatWentBackMakesNothingOlder) {
  ClockHistory history{.last = At(1h)};
  Advance(history, At(2h, -days(3)));
  EXPECT_EQ(NowForRemoval(history, At(2h, -days(3)).wall), kStart + 2h - days(3));
}

TEST(ClockHistoryOf, ALimitCountsTheTimeThatPassed) {
  ClockHistory history{.last = At(1h)};
  Advance(history, At(2h, days(100)));
  const SysTime now = At(3h, days(100)).wall;
  EXPECT_EQ(JumpedSince(history, kStart + 30min, now), days(100));        // began before
  EXPECT_EQ(JumpedSince(history, At(150min, days(100)).wall, now), 0ns);  // began after
  Advance(history, At(4h));                                               // and back
  EXPECT_EQ(JumpedSince(history, kStart + 30min, At(4h).wall), 0ns);
  EXPECT_EQ(JumpedSince(history, At(150min, days(100)).wall, At(4h).wall), -days(100));
  EXPECT_EQ(JumpedSince(history, At(4h).wall, At(5h).wall), 0ns);
}

TEST(ClockHistoryOf, WhatBeganAfterAllJumpsIsNotMovedByThem) {
  ClockHistory history{.last = At(1h)};
  Advance(history, At(2h, days(100)));
  Advance(history, At(2h, 3h));  // back, and still ahead of what comes
  Advance(history, At(2h, -3h));
  Advance(history, At(2h));
  EXPECT_EQ(history.jumps.size(), 4U);
  for (const auto began : {kStart + 2h, kStart + 2h + 10min, kStart + 4h})
    EXPECT_EQ(JumpedSince(history, began, kStart + 6h), 0ns);
  EXPECT_EQ(JumpedSince(history, kStart + 90min, kStart + 6h), 0ns) << "all jumps together are none";
}

TEST(ClockHistoryOf, AreKeptInBounds) {
  ClockHistory history{.last = At(1h)};
  for (int i = 1; i <= 40; ++i) Advance(history, At(1h * i, i % 2 == 0 ? 0ns : nanoseconds(1h)));
  EXPECT_EQ(history.jumps.size(), kJumpsMax);
}

TEST(AboutText, IsForPeople) {
  EXPECT_EQ(AboutText(days(100) + 3h), "100 days");
  EXPECT_EQ(AboutText(-5h), "5 hours");
  EXPECT_EQ(AboutText(7min), "7 minutes");
}

}  // namespace
}  // namespace trainyard::retention
