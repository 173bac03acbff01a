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

std::string Explain(const std::vector<std::string>& tags, const MetricReport& report) {
  return ExplainNoMetric(tags, report);
}

void AddFurther(const std::string& tag, const std::vector<double>& values, MetricReport& report) {
  MetricReport::Further& further = *report.add_further();
  further.set_tag(tag);
  *further.mutable_measurements() = Report(values).measurements();
}

TEST(FinalMeasurement, IsTheLastIfItIsFinite) {
  EXPECT_EQ(FinalMeasurement(Report({})), std::nullopt);
  EXPECT_EQ(FinalMeasurement(Report({0.5, 0.25}))->value(), 0.25);
  EXPECT_EQ(FinalMeasurement(Report({0.5, 0.25}))->step(), 2);
  EXPECT_EQ(FinalMeasurement(Report({0.5, std::nan("")})), std::nullopt);
  EXPECT_EQ(FinalMeasurement(Report({0.5, HUGE_VAL})), std::nullopt);
}

TEST(FinalMeasurementOf, IsThatOfTheTag) {
  MetricReport report = Report({0.5});
  AddFurther("loss", {4, 2}, report);
  AddFurther("auc", {std::nan("")}, report);
  EXPECT_EQ(FinalMeasurementOf("loss", report)->value(), 2);
  EXPECT_EQ(FinalMeasurementOf("auc", report), std::nullopt);
  EXPECT_EQ(FinalMeasurementOf("acc", report), std::nullopt);
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

TEST(Merge, EachTagIsTakenFromTheFirstThatHasIt) {
  MetricReport first = Report({0.5}, "a");
  AddFurther("loss", {2}, first);
  MetricReport second = Report({0.25}, "b");
  AddFurther("loss", {3}, second);
  AddFurther("auc", {0.75}, second);
  const MetricReport both = Merge(first, second);
  EXPECT_EQ(both.measurements(0).value(), 0.5);
  EXPECT_EQ(FinalMeasurementOf("loss", both)->value(), 2);
  EXPECT_EQ(FinalMeasurementOf("auc", both)->value(), 0.75);
  EXPECT_EQ(both.further_size(), 2);
}

TEST(ExplainNoMetric, SaysWhatWasLookedForAndSeen) {
  EXPECT_EQ(Explain({"acc"}, Report({1})), "");
  EXPECT_EQ(Explain({"acc"}, Report({})),
            "The metric 'acc' was not reported: looked in no place; tags seen: none.");
  MetricReport report = Report({}, "/tmp/hypertune/output.metrics", {"loss", "auc"});
  report.add_places("gs://b/job/1 (2 event files)");
  EXPECT_EQ(Explain({"acc"}, report),
            "The metric 'acc' was not reported: looked in /tmp/hypertune/output.metrics, gs://b/job/1 (2 "
            "event files); "
            "tags seen: loss, auc.");
  EXPECT_EQ(Explain({"loss"}, report),
            "The metric 'loss' was reported only with values that are no numbers: report a float, such as a "
            "tensor's item().");
  EXPECT_EQ(Explain({"acc"}, Report({1, std::nan("")}, "gs://b/1/eval")),
            "The metric 'acc' was not a number at the end (step 2; from gs://b/1/eval).");
  EXPECT_EQ(Explain({"acc"}, Report({-HUGE_VAL}, "gs://b/1")),
            "The metric 'acc' was infinite at the end (step 1; from gs://b/1).");
}

TEST(ExplainNoMetric, NamesTheFirstTagThatIsMissing) {
  MetricReport report = Report({0.5}, "/tmp/hypertune/output.metrics", {"val_loss"});
  EXPECT_EQ(Explain({"acc", "loss"}, report),
            "The metric 'loss' was not reported: looked in /tmp/hypertune/output.metrics; tags seen: "
            "acc, val_loss.");
  AddFurther("loss", {2, HUGE_VAL}, report);
  EXPECT_EQ(Explain({"acc", "loss"}, report), "The metric 'loss' was infinite at the end (step 2).");
  report.mutable_further(0)->mutable_measurements()->RemoveLast();
  EXPECT_EQ(Explain({"acc", "loss"}, report), "");
  report.clear_measurements();
  EXPECT_THAT(Explain({"acc", "loss"}, report), testing::StartsWith("The metric 'acc' was not reported: "));
}

}  // namespace
}  // namespace trainyard::measurement
