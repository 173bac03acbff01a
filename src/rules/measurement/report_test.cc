#include "rules/measurement/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::measurement {
namespace {

using replica::v1::MetricReport;
using testing::ElementsAre;

MetricReport Report(std::vector<double> values, std::string place = "", std::vector<std::string> seen = {}) {
  MetricReport report;
  for (const double value : values) {
    replica::v1::Measurement& one = *report.add_measurements();
    one.set_step(report.measurements_size());
    one.set_value(value);
  }
  for (const std::string& tag : seen) report.add_seen_tags(tag);
  if (!place.empty()) report.add_places(place);
  if (!values.empty()) report.set_place(std::move(place));
  return report;
}

TEST(FinalMeasurement, IsTheLastIfItIsFinite) {
  EXPECT_EQ(FinalMeasurement(Report({})), std::nullopt);
  EXPECT_EQ(FinalMeasurement(Report({0.5, 0.25}))->value(), 0.25);
  EXPECT_EQ(FinalMeasurement(Report({0.5, 0.25}))->step(), 2);
  EXPECT_EQ(FinalMeasurement(Report({0.5, std::nan("")})), std::nullopt);
  EXPECT_EQ(FinalMeasurement(Report({0.5, HUGE_VAL})), std::nullopt);
}

TEST(Merge, TheFirstCountsIfItHasMeasurements) {
  const MetricReport both =
      Merge(Report({0.5}, "/tmp/hypertune/output.metrics", {"loss"}), Report({0.25}, "gs://b/1", {"auc"}));
  EXPECT_EQ(both.measurements(0).value(), 0.5);
  EXPECT_EQ(both.place(), "/tmp/hypertune/output.metrics");
  EXPECT_THAT(both.places(), ElementsAre("/tmp/hypertune/output.metrics", "gs://b/1"));
  EXPECT_THAT(both.seen_tags(), ElementsAre("auc", "loss"));
}

TEST(Merge, ElseTheSecond) {
  const MetricReport both = Merge(Report({}, "/tmp/hypertune/output.metrics"), Report({0.25}, "gs://b/1"));
  EXPECT_EQ(both.measurements(0).value(), 0.25);
  EXPECT_EQ(both.place(), "gs://b/1");
}

TEST(ExplainNoMetric, SaysWhatWasLookedForAndSeen) {
  EXPECT_EQ(ExplainNoMetric("acc", Report({1})), "");
  EXPECT_EQ(ExplainNoMetric("acc", Report({})),
            "The metric 'acc' was not reported: looked in no place; tags seen: none.");
  MetricReport report = Report({}, "/tmp/hypertune/output.metrics", {"loss", "auc"});
  report.add_places("gs://b/job/1 (2 event files)");
  EXPECT_EQ(ExplainNoMetric("acc", report),
            "The metric 'acc' was not reported: looked in /tmp/hypertune/output.metrics, gs://b/job/1 (2 "
            "event files); "
            "tags seen: loss, auc.");
  EXPECT_EQ(ExplainNoMetric("loss", report),
            "The metric 'loss' was reported only with values that are no numbers: report a float, such as a "
            "tensor's item().");
  EXPECT_EQ(ExplainNoMetric("acc", Report({1, std::nan("")}, "gs://b/1/eval")),
            "The metric 'acc' was not a number at the end (step 2; from gs://b/1/eval).");
  EXPECT_EQ(ExplainNoMetric("acc", Report({-HUGE_VAL}, "gs://b/1")),
            "The metric 'acc' was infinite at the end (step 1; from gs://b/1).");
}

}  // namespace
}  // namespace trainyard::measurement
