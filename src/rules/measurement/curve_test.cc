#include "rules/measurement/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace trainyard::measurement {
namespace {

using testing::ElementsAre;

replica::v1::MetricReport Print(const Curve& curve) {
  replica::v1::MetricReport report;
  curve.Print(report);
  return report;
}

std::vector<std::pair<std::int64_t, double>> Points(const Curve& curve) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (const auto& one : Print(curve).measurements()) points.emplace_back(one.step(), one.value());
  return points;
}

TEST(Curve, IsInTheOrderOfStepThenTime) {
  Curve curve;
  curve.Add(10, 5, 0.3);
  curve.Add(2, 9, 0.1);
  curve.Add(10, 4, 0.2);
  EXPECT_THAT(Points(curve), ElementsAre(std::pair(2, 0.1), std::pair(10, 0.2), std::pair(10, 0.3)));
  EXPECT_EQ(curve.newest_s(), 9);
}

TEST(Curve, TheSameStepAndTimeIsTheSameMeasurement) {
  Curve curve;
  curve.Add(1, 5, 0.3);
  curve.Add(1, 5, 0.4);
  EXPECT_THAT(Points(curve), ElementsAre(std::pair(1, 0.4)));
}

TEST(Curve, TimesAreKeptToTheNanosecondThatADoubleHas) {
  Curve curve;
  curve.Add(1, 1795272425.25, 0.3);
  EXPECT_EQ(Print(curve).measurements(0).time().seconds(), 1795272425);
  EXPECT_EQ(Print(curve).measurements(0).time().nanos(), 250'000'000);
}

TEST(Curve, TimesThatAreNoneCountAsZero) {
  Curve curve;
  for (const double time :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300, 1e300}) {
    curve.Add(1, time, 0.3);
  }
  EXPECT_EQ(Points(curve).size(), 1U);
}

class ThinnedOut : public testing::TestWithParam<bool> {};
TEST_P(ThinnedOut, EvenlyWithoutItsEndsAndExtremes) {
  const bool has_steps = GetParam();
  Curve curve;
  constexpr int kReports = 100'000;
  for (int i = 0; i < kReports; ++i) {
    double value = i % 7;
    if (i == 31'415) value = 100;
    if (i == 27'182) value = -100;
    if (i % 1000 == 0) value = std::numeric_limits<double>::quiet_NaN();
    curve.Add(has_steps ? i : 0, i, value);
  }
  const auto report = Print(curve);
  ASSERT_EQ(report.measurements_size(), kMeasurementsMax);
  std::vector<std::int64_t> places;
  double largest = 0;
  double smallest = 0;
  for (const auto& one : report.measurements()) {
    places.push_back(has_steps ? one.step() : one.time().seconds());
    if (one.value() > largest) largest = one.value();
    if (one.value() < smallest) smallest = one.value();
  }
  EXPECT_EQ(largest, 100);
  EXPECT_EQ(smallest, -100);
  EXPECT_EQ(places.front(), 0);
  EXPECT_EQ(places.back(), kReports - 1);
  std::int64_t widest = 0;
  for (std::size_t i = 1; i < places.size(); ++i) widest = std::max(widest, places[i] - places[i - 1]);
  EXPECT_LT(widest, 5 * kReports / kMeasurementsMax);
}
INSTANTIATE_TEST_SUITE_P(By, ThinnedOut, testing::Bool(),
                         [](const auto& row) { return row.param ? "step" : "time"; });

}  // namespace
}  // namespace trainyard::measurement
