#include "rules/retention/keep.h"

#include <gtest/gtest.h>

namespace trainyard::retention {
namespace {

using std::chrono::seconds;

const SysTime kNow{seconds(10'000)};

Candidate Used(int seconds_ago, std::int64_t bytes = 0, bool needed = false) {
  return {.last_used = kNow - seconds(seconds_ago), .bytes = bytes, .needed = needed};
}

struct Row {
  const char* name;
  std::vector<Candidate> list;
  Limits limits;
  std::vector<Removal> going;
};

class Goes : public testing::TestWithParam<Row> {};

TEST_P(Goes, ByTheRule) {
  const Row& row = GetParam();
  EXPECT_EQ(WhatGoes(row.list, row.limits, kNow), row.going);
}
INSTANTIATE_TEST_SUITE_P(
    Rule, Goes,
    testing::Values(Row{"nothing_is_there", {}, {.age = seconds(1)}, {}},
                    Row{"kept_for_ever", {Used(9'999)}, {.age = std::nullopt}, {}},
                    Row{"the_oldest_first",
                        {Used(20), Used(50), Used(5)},
                        {.age = seconds(10)},
                        {{.index = 1, .why = Why::kAge}, {.index = 0, .why = Why::kAge}}},
                    Row{"the_age_itself_stays", {Used(10)}, {.age = seconds(10)}, {}},
                    Row{"the_future_is_new", {Used(-500)}, {.age = seconds(10)}, {}},
                    Row{"needed_stays_at_any_age",
                        {Used(50, 0, true), Used(40)},
                        {.age = seconds(10)},
                        {{.index = 1, .why = Why::kAge}}},
                    Row{"size_takes_the_least_recently_used",
                        {Used(1, 10), Used(3, 10), Used(2, 10)},
                        {.age = std::nullopt, .bytes_max = 20},
                        {{.index = 1, .why = Why::kSize}}},
                    Row{"size_passes_over_what_is_needed",
                        {Used(3, 10, true), Used(2, 10)},
                        {.age = std::nullopt, .bytes_max = 10},
                        {{.index = 1, .why = Why::kSize}}},
                    Row{"what_goes_by_age_makes_room",
                        {Used(50, 10), Used(3, 10)},
                        {.age = seconds(10), .bytes_max = 10},
                        {{.index = 0, .why = Why::kAge}}},
                    Row{"only_needed_is_left", {Used(3, 10, true)}, {.age = seconds(1), .bytes_max = 0}, {}}),
    [](const auto& row) { return row.param.name; });

TEST(SweepPause, IsAnHourUnlessSomethingIsKeptForLess) {
  EXPECT_EQ(SweepPause({}), kSweepPauseMax);
  EXPECT_EQ(SweepPause({.jobs = seconds(10)}), seconds(5));
  EXPECT_EQ(SweepPause({.logs = seconds(1)}), kSweepPauseMin);
  EXPECT_EQ(SweepPause({.jobs = std::nullopt, .logs = std::nullopt, .scratch = {}, .environments = {}}),
            kSweepPauseMax);
}

TEST(ShareTest, ATenthIsSmall) {
  EXPECT_TRUE((Share{.going = 0, .all = 0}.IsSmall()));
  EXPECT_TRUE((Share{.going = 4, .all = 40}.IsSmall()));
  EXPECT_FALSE((Share{.going = 5, .all = 40}.IsSmall()));
  EXPECT_FALSE((Share{.going = 1, .all = 9}.IsSmall())) << "of few things each is much";
}

}  // namespace
}  // namespace trainyard::retention
