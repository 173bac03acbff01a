#include "stores/metrics/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/time.h"

namespace trainyard::metrics::series_thinner_test {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::Field;
using testing::SizeIs;

SysTime At(int second) { return SysTime(seconds{1'700'000'000 + second}); }

Sample Make(const std::string& task, int second) {
  Sample sample{.job_uid = 1, .task_name = task, .attempt = 1};
  *sample.usage.mutable_time() = wire::ToProto(At(second));
  sample.usage.set_memory_bytes(second == 777 ? 900 : 100);
  sample.usage.set_memory_total_bytes(1'000);
  sample.usage.set_disk_read_bytes(10 * (second + 1));
  return sample;
}

const Metric* Find(std::string_view name) {
  return FindMetric("ml.googleapis.com/training/" + std::string(name));
}

TEST(SeriesThinner, KeepsThePeaksOfSharesAndTheSumsOfBytes) {
  SeriesThinner thinner({Find("memory/utilization"), Find("disk/read_bytes_count")}, 20);
  for (int second = 0; second < 10'000; ++second) {
    thinner.Add(Make("master-replica-0", second));
    thinner.Add(Make("worker-replica-0", second));
  }
  const std::vector<Series> series = thinner.Take();
  ASSERT_THAT(series, SizeIs(4));
  EXPECT_EQ(series[0].metric, Find("memory/utilization"));
  EXPECT_EQ(series[1].task_name, "worker-replica-0");
  for (const Series& one : series) {
    EXPECT_LE(one.points.size(), 20U);
    EXPECT_GE(one.points.size(), 4U);
    EXPECT_EQ(one.points.back().end, At(9'999));
  }
  EXPECT_THAT(series[0].points, Contains(Field(&Point::value, 0.9))) << "the one peak";
  EXPECT_EQ(series[0].points.front().end, At(0));
  double sum = 0;
  SysTime end = series[2].points.front().start;
  for (const Point& point : series[2].points) {
    sum += point.value;
    EXPECT_EQ(point.start, end) << "no gap";
    end = point.end;
  }
  EXPECT_EQ(sum, 100'000);
  EXPECT_THAT(thinner.Take(), SizeIs(0));
}

TEST(SeriesThinner, IsWhatSeriesOfSaysWhereThereIsRoom) {
  SeriesThinner thinner({Find("memory/utilization")}, 100);
  std::vector<Sample> samples;
  for (int second = 0; second < 50; ++second) samples.push_back(Make("m", second));
  for (const Sample& sample : samples) thinner.Add(sample);
  const std::vector<Series> thinned = thinner.Take();
  const std::vector<Series> whole = SeriesOf(*Find("memory/utilization"), samples);
  ASSERT_THAT(thinned, SizeIs(1));
  EXPECT_EQ(thinned[0].points, whole[0].points);
}

TEST(SeriesThinner, HoldsABoundedNumberOfPoints) {
  SeriesThinner thinner({Find("memory/utilization"), Find("disk/read_bytes_count")}, kThinnedPointsMax);
  for (int task = 0; task < 1'000; ++task) {
    for (int second = 0; second < 600; ++second) thinner.Add(Make("t" + std::to_string(task), second));
  }
  std::size_t points = 0;
  for (const Series& one : thinner.Take()) points += one.points.size();
  EXPECT_LE(points, kThinnedTogetherMax);
  EXPECT_GE(points, kThinnedTogetherMax / 4);
}

TEST(Thin, NeverGivesMoreThanAskedFor) {
  for (const Metric::Kind kind : {Metric::Kind::kGauge, Metric::Kind::kDelta}) {
    for (const int size : {7, 8, 9, 10, 17, 100, 1'001}) {
      std::vector<Point> points;
      for (int i = 0; i < size; ++i) points.push_back({At(i), At(i + 1), static_cast<double>(i % 3)});
      for (const std::size_t wanted : {8U, 9U, 50U}) EXPECT_LE(Thin(kind, points, wanted).size(), wanted);
    }
  }
}

}  // namespace
}  // namespace trainyard::metrics::series_thinner_test
