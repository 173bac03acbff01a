#include "rules/measurement/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace trainyard::measurement {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Columns Line(std::size_t size) {
  Columns columns;
  for (std::size_t i = 0; i < size; ++i)
    columns.Append(static_cast<double>(i), 1'000 + static_cast<double>(i), static_cast<float>(i % 10));
  return columns;
}

TEST(Columns, AreOrderedByStepThenTimeAndTheLastOfEqualsStays) {
  Columns columns;
  columns.Append(2, 1, 20);
  columns.Append(1, 5, 15);
  columns.Append(1, 4, 14);
  columns.Append(2, 1, 21);
  EXPECT_EQ(Ordered(columns), (Columns{.steps = {1, 1, 2}, .times = {4, 5, 1}, .values = {14, 15, 21}}));
}

TEST(PartOf, GivesAllWhereThereIsRoom) {
  const Columns line = Line(100);
  const Part part = PartOf(line, {}, 100);
  EXPECT_EQ(part.columns, line);
  EXPECT_EQ(part.points, 100U);
}

TEST(PartOf, KeepsFirstLastAndExtremes) {
  Columns line = Line(10'000);
  line.values[1'234] = 99;
  line.values[5'678] = -99;
  line.values[7'777] = kInfinity;
  const Part part = PartOf(line, {}, 200);
  EXPECT_EQ(part.points, 10'000U);
  EXPECT_LE(part.columns.size(), 200U);
  EXPECT_GT(part.columns.size(), 150U);
  EXPECT_EQ(part.columns.steps.front(), 0);
  EXPECT_EQ(part.columns.steps.back(), 9'999);
  for (const float extreme : {99.0F, -99.0F, kInfinity})
    EXPECT_THAT(part.columns.values, testing::Contains(extreme));
  EXPECT_TRUE(std::ranges::is_sorted(part.columns.steps));
}

TEST(PartOf, KeepsNaN) {
  Columns line = Line(1'000);
  line.values[500] = kNan;
  const Part part = PartOf(line, {}, 50);
  EXPECT_LE(part.columns.size(), 50U);
  EXPECT_EQ(std::ranges::count_if(part.columns.values, [](float value) { return std::isnan(value); }), 1);
}

TEST(PartOf, IsWholeInsideARange) {
  const Columns line = Line(10'000);
  const Part steps = PartOf(line, {.axis = Range::Axis::kStep, .from = 100, .to = 149}, 100);
  EXPECT_EQ(steps.points, 50U);
  EXPECT_EQ(steps.columns.steps.front(), 100);
  EXPECT_EQ(steps.columns.steps.back(), 149);
  const Part times = PartOf(line, {.axis = Range::Axis::kTime, .from = 1'010, .to = 1'011}, 100);
  EXPECT_EQ(times.columns.steps, (std::vector<double>{10, 11}));
  EXPECT_EQ(PartOf(line, {.axis = Range::Axis::kStep, .from = 1e9, .to = 2e9}, 100).points, 0U);
}

}  // namespace
}  // namespace trainyard::measurement
