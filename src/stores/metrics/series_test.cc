#include "stores/metrics/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/time.h"

namespace trainyard::metrics {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

SysTime At(int second) { return SysTime(seconds{1'700'000'000 + second}); }

Sample Make(const std::string& task, int attempt, int second, double cpu_seconds) {
  Sample sample{.job_uid = 1, .task_name = task, .attempt = attempt};
  *sample.usage.mutable_time() = wire::ToProto(At(second));
  sample.usage.set_cpu_seconds(cpu_seconds);
  sample.usage.set_cpus(2);
  sample.usage.set_memory_bytes(256);
  sample.usage.set_memory_total_bytes(1024);
  return sample;
}

std::vector<Series> Of(std::string_view metric, const std::vector<Sample>& samples) {
  const Metric* found = FindMetric(std::string("ml.googleapis.com/training/") + std::string(metric));
  return SeriesOf(*found, samples);
}

TEST(Series, CpuIsTheGrowthOfAnAttemptOverItsProcessors) {
  const auto series =
      Of("cpu/utilization", {Make("master-replica-0", 1, 1, 1.0), Make("worker-replica-0", 1, 1, 0),
                             Make("master-replica-0", 1, 11, 11.0), Make("master-replica-0", 2, 20, 0.5),
                             Make("master-replica-0", 2, 30, 100.0)});
  ASSERT_THAT(series, SizeIs(2));
  EXPECT_EQ(series[0].task_name, "master-replica-0");
  EXPECT_THAT(series[0].points, ElementsAre(Point{At(1), At(1), 0.5}, Point{At(11), At(11), 0.5},
                                            Point{At(20), At(20), 0.25}, Point{At(30), At(30), 1.0}))
      << "a new attempt begins at nothing; more than all of them is all of them";
  EXPECT_THAT(series[1].points, ElementsAre(Point{At(1), At(1), 0}));
}

TEST(Series, MemoryIsAFractionOfWhatThereIs) {
  EXPECT_THAT(Of("memory/utilization", {Make("m", 1, 5, 0)})[0].points,
              ElementsAre(Point{At(5), At(5), 0.25}));
  Sample unknown = Make("m", 1, 5, 0);
  unknown.usage.clear_memory_total_bytes();
  EXPECT_THAT(Of("memory/utilization", {unknown}), IsEmpty());
}

TEST(Series, NetworkOnlyWhereThereIsOne) {
  EXPECT_THAT(Of("network/sent_bytes_count", {Make("m", 1, 5, 0)}), IsEmpty());
  Sample first = Make("m", 1, 1, 0);
  first.usage.set_received_bytes(100);
  Sample second = Make("m", 1, 11, 0);
  second.usage.set_received_bytes(350);
  EXPECT_THAT(Of("network/received_bytes_count", {first, second})[0].points,
              ElementsAre(Point{At(0), At(1), 100}, Point{At(1), At(11), 250}));
}

TEST(Series, AcceleratorsAreTheirMean) {
  EXPECT_THAT(Of("accelerator/utilization", {Make("m", 1, 1, 0)}), IsEmpty());
  Sample sample = Make("m", 1, 1, 0);
  for (const double utilization : {0.5, 1.0}) {
    auto& gpu = *sample.usage.add_gpus();
    gpu.set_utilization(utilization);
    gpu.set_memory_bytes(utilization > 0.7 ? 30 : 0);
    gpu.set_memory_total_bytes(60);
  }
  EXPECT_DOUBLE_EQ(Of("accelerator/utilization", {sample})[0].points[0].value, 0.75);
  EXPECT_DOUBLE_EQ(Of("accelerator/memory/utilization", {sample})[0].points[0].value, 0.25);
}

TEST(Series, AreThoseOfTheOriginalAndOfDisks) {
  std::vector<std::string_view> types;
  for (const Metric& metric : Metrics()) types.push_back(metric.type);
  EXPECT_THAT(types,
              testing::UnorderedElementsAre("ml.googleapis.com/training/cpu/utilization",
                                            "ml.googleapis.com/training/memory/utilization",
                                            "ml.googleapis.com/training/accelerator/utilization",
                                            "ml.googleapis.com/training/accelerator/memory/utilization",
                                            "ml.googleapis.com/training/disk/read_bytes_count",
                                            "ml.googleapis.com/training/disk/written_bytes_count",
                                            "ml.googleapis.com/training/network/received_bytes_count",
                                            "ml.googleapis.com/training/network/sent_bytes_count"));
  EXPECT_EQ(FindMetric("cpu"), nullptr);
}

TEST(PrintSeries, IsMonitoringsForm) {
  const auto series = Of("cpu/utilization", {Make("m", 1, 1, 1.0), Make("m", 1, 11, 6.0)});
  EXPECT_EQ(
      PrintSeries("p", "j", series),
      R"({"timeSeries":[{"metric":{"type":"ml.googleapis.com/training/cpu/utilization"},)"
      R"("resource":{"type":"cloudml_job","labels":{"project_id":"p","job_id":"j","task_name":"m"}},)"
      R"("metricKind":"GAUGE","valueType":"DOUBLE","unit":"10^2.%","points":[)"
      R"({"interval":{"startTime":"2023-11-14T22:13:31Z","endTime":"2023-11-14T22:13:31Z"},"value":{"doubleValue":2.5E-1}},)"
      R"({"interval":{"startTime":"2023-11-14T22:13:21Z","endTime":"2023-11-14T22:13:21Z"},"value":{"doubleValue":5E-1}}]}]})"
      "\n");
  EXPECT_EQ(PrintSeries("p", "j", {}), "{}\n");
}

}  // namespace
}  // namespace trainyard::metrics
