#include "control/tuning/trial_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "rules/measurement/report.h"
#include "rules/measurement/testing/event_bytes.h"
#include "stores/storage/testing/storage_fixture.h"

namespace trainyard::control {
namespace {

using measurement::EventBytes;
using replica::v1::MetricReport;
using testing::ElementsAre;

MetricReport Report(std::string place, std::vector<double> values, std::vector<std::string> seen = {}) {
  MetricReport report;
  report.add_places(place);
  for (const double value : values) {
    replica::v1::Measurement& one = *report.add_measurements();
    one.set_step(report.measurements_size());
    one.set_value(value);
  }
  if (!values.empty()) report.set_place(std::move(place));
  for (const std::string& tag : seen) report.add_seen_tags(tag);
  return report;
}

std::vector<double> ValuesOf(const TrialMetrics& metrics) {
  std::vector<double> values;
  for (const auto& one : metrics.report().measurements()) values.push_back(one.value());
  return values;
}

class TrialMetricsTest : public testing::Test {
 protected:
  std::vector<double> Values() { return ValuesOf(metrics_); }
  bool Read() { return storage_.Await(metrics_.ReadSummaries()); }
  void Put(const std::string& object, const std::string& bytes) {
    ASSERT_TRUE(storage_.Put(object, bytes).has_value());
  }

  storage::TemporaryFolder folder_;
  storage::Storage storage_{folder_.path()};
  TrialMetrics metrics_{{"acc"}, "gs://bucket/out/1", storage_.clock().Now(), storage_.buckets()};
};

TEST_F(TrialMetricsTest, EventFilesOfTheTrialAreRead) {
  EXPECT_TRUE(Read()) << "the place is news";
  EXPECT_FALSE(Read());
  const std::string first = EventBytes({"acc", 1, 10, 0.25});
  Put("out/1/logs/events.out.tfevents.1.host", first);
  Put("out/10/logs/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.5}));
  Put("out/1/checkpoint", "not events");
  EXPECT_TRUE(Read());
  EXPECT_THAT(Values(), ElementsAre(0.25));
  EXPECT_EQ(metrics_.report().place(), "gs://bucket/out/1/logs");
  EXPECT_FALSE(Read());
  Put("out/1/logs/events.out.tfevents.1.host", first + EventBytes({"acc", 2, 11, 0.75}));
  EXPECT_TRUE(Read());
  EXPECT_THAT(Values(), ElementsAre(0.25, 0.75));
  EXPECT_EQ(metrics_.WhyNone(), "");
  EXPECT_EQ(metrics_.TakeWarning(), "");
}

TEST_F(TrialMetricsTest, AFileThatTheProgramAppendsToIsReadOn) {
  Put("out/1/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Read();
  const std::string second = EventBytes({"acc", 2, 11, 0.75});
  const auto append = [this](std::string_view bytes) {
    std::ofstream(storage_.folder() / "out/1/events.out.tfevents.1.host", std::ios::app | std::ios::binary)
        << bytes;
  };
  append(second.substr(0, 20));
  Read();
  EXPECT_THAT(Values(), ElementsAre(0.25));
  append(second.substr(20));
  EXPECT_TRUE(Read());
  EXPECT_THAT(Values(), ElementsAre(0.25, 0.75));
}

TEST_F(TrialMetricsTest, TheMetricFileWinsOverEventsAndTheseOverLocalOnes) {
  EXPECT_TRUE(metrics_.Take(Report("logs", {0.1}, {"loss"})));
  EXPECT_THAT(Values(), ElementsAre(0.1));
  Put("out/1/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  EXPECT_TRUE(Read());
  EXPECT_THAT(Values(), ElementsAre(0.25));
  EXPECT_TRUE(metrics_.Take(Report(std::string(measurement::kMetricFile), {0.5})));
  EXPECT_THAT(Values(), ElementsAre(0.5));
  EXPECT_FALSE(metrics_.Take(Report(std::string(measurement::kMetricFile), {0.5})));
  EXPECT_FALSE(metrics_.Take(Report(std::string(measurement::kMetricFile), {})))
      << "a restart forgets nothing";
}

TEST_F(TrialMetricsTest, ATrialWithoutTheMetricSaysWhereItWasLookedFor) {
  metrics_.Take(Report(std::string(measurement::kMetricFile), {}, {"loss"}));
  Put("out/1/train/events.out.tfevents.1.host", EventBytes({"epoch_acc", 1, 10, 0.25}));
  Read();
  EXPECT_EQ(metrics_.WhyNone(),
            "The metric 'acc' was not reported: looked in /tmp/hypertune/output.metrics, gs://bucket/out/1 "
            "(1 event file); "
            "tags seen: epoch_acc, loss.");
}

TEST_F(TrialMetricsTest, ATagWithASuffixIsTakenWithOneWarning) {
  Put("out/1/events.out.tfevents.1.host", EventBytes({"acc_1", 1, 10, 0.25}));
  Read();
  EXPECT_THAT(Values(), ElementsAre(0.25));
  EXPECT_EQ(metrics_.TakeWarning(),
            "No summary is called 'acc': the only one that TensorFlow may have renamed, 'acc_1' in "
            "gs://bucket/out/1, "
            "counts as the metric.");
  EXPECT_EQ(metrics_.TakeWarning(), "");
}

TEST_F(TrialMetricsTest, WhatAFormerServerReadStaysUntilItIsReadAgain) {
  EXPECT_TRUE(metrics_.Take(Report("gs://bucket/out/1", {0.1, 0.2})));
  metrics_.Take(Report(std::string(measurement::kMetricFile), {}));
  EXPECT_THAT(Values(), ElementsAre(0.1, 0.2));
  Put("out/1/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Read();
  EXPECT_THAT(Values(), ElementsAre(0.25));
}

void AddFurther(const std::string& tag, double value, MetricReport& report) {
  MetricReport::Further& further = *report.add_further();
  further.set_tag(tag);
  further.add_measurements()->set_value(value);
}

TEST_F(TrialMetricsTest, EachMetricIsTakenFromWhereItIs) {
  TrialMetrics metrics({"acc", "loss"}, "gs://bucket/out/1", storage_.clock().Now(), storage_.buckets());
  Put("out/1/events.out.tfevents.1.host",
      EventBytes({"acc", 1, 10, 0.25}) + EventBytes({"loss_1", 1, 10, 2}));
  storage_.Await(metrics.ReadSummaries());
  metrics.Take(Report(std::string(measurement::kMetricFile), {0.75}));
  EXPECT_THAT(ValuesOf(metrics), ElementsAre(0.75));
  EXPECT_EQ(measurement::FinalMeasurementOf("loss", metrics.report())->value(), 2);
  EXPECT_EQ(metrics.WhyNone(), "");
  EXPECT_THAT(metrics.TakeWarning(), testing::HasSubstr("'loss_1' in gs://bucket/out/1"));
  EXPECT_EQ(metrics.TakeWarning(), "");
}

TEST_F(TrialMetricsTest, AMetricThatARestartedProgramHasNotReportedYetIsKept) {
  TrialMetrics metrics({"acc", "loss"}, "", storage_.clock().Now(), storage_.buckets());
  const std::string file(measurement::kMetricFile);
  MetricReport first = Report(file, {0.5});
  AddFurther("loss", 4, first);
  metrics.Take(first);
  metrics.Take(Report(file, {}));
  EXPECT_THAT(ValuesOf(metrics), ElementsAre(0.5)) << "it has reported nothing yet";
  MetricReport second = Report(file, {});
  AddFurther("loss", 2, second);
  metrics.Take(second);
  EXPECT_THAT(ValuesOf(metrics), ElementsAre(0.5));
  EXPECT_EQ(measurement::FinalMeasurementOf("loss", metrics.report())->value(), 2);
}

TEST_F(TrialMetricsTest, AMissingMetricIsNamed) {
  TrialMetrics metrics({"acc", "loss"}, "", storage_.clock().Now(), storage_.buckets());
  metrics.Take(Report(std::string(measurement::kMetricFile), {0.5}, {"val_loss"}));
  EXPECT_EQ(metrics.WhyNone(),
            "The metric 'loss' was not reported: looked in /tmp/hypertune/output.metrics; tags seen: "
            "acc, val_loss.");
}

TEST_F(TrialMetricsTest, WithoutAJobDirectoryOnlyTheSupervisorIsHeard) {
  TrialMetrics metrics({"acc"}, "", storage_.clock().Now(), storage_.buckets());
  EXPECT_FALSE(storage_.Await(metrics.ReadSummaries()));
  metrics.Take(Report("logs", {0.1}));
  EXPECT_EQ(metrics.report().measurements_size(), 1);
}

// The same --job-dir twice, or a resumed job, whose trials count from 1 again.
TEST_F(TrialMetricsTest, WhatAnEarlierJobLeftIsNotTheTrials) {
  namespace fs = std::filesystem;
  Put("out/1/validation/events.out.tfevents.1.host", EventBytes({"acc", 9, 10, 0.9}));
  const fs::path by_a_program = storage_.folder() / "out/1/events.out.tfevents.2.host";
  std::ofstream(by_a_program, std::ios::binary) << EventBytes({"acc", 9, 10, 0.8});
  storage_.clock().Advance(std::chrono::hours(1));
  const SysTime created = storage_.clock().Now();
  TrialMetrics metrics({"acc"}, "gs://bucket/out/1", created, storage_.buckets());
  storage_.Await(metrics.ReadSummaries());
  EXPECT_THAT(ValuesOf(metrics), testing::IsEmpty());
  EXPECT_EQ(
      metrics.WhyNone(),
      "The metric 'acc' was not reported: looked in gs://bucket/out/1 (no event files, 2 from before the "
      "trial); tags seen: none.");

  storage_.clock().Advance(std::chrono::minutes(1));
  Put("out/1/events.out.tfevents.3.host", EventBytes({"acc", 1, 20, 0.25}));
  EXPECT_TRUE(storage_.Await(metrics.ReadSummaries()));
  EXPECT_THAT(ValuesOf(metrics), ElementsAre(0.25));
  std::ofstream(by_a_program, std::ios::binary) << EventBytes({"acc", 2, 30, 0.5});
  fs::last_write_time(by_a_program, std::chrono::file_clock::from_sys(created - kFileTimeSlack +
                                                                      std::chrono::milliseconds(1)));
  EXPECT_TRUE(storage_.Await(metrics.ReadSummaries())) << "the trial's now, by a clock that is late";
  EXPECT_THAT(ValuesOf(metrics), ElementsAre(0.25, 0.5));

  storage_.clock().Advance(std::chrono::hours(48));  // another attempt, another server
  TrialMetrics again({"acc"}, "gs://bucket/out/1", created, storage_.buckets());
  storage_.Await(again.ReadSummaries());
  EXPECT_THAT(ValuesOf(again), ElementsAre(0.25, 0.5));
}

TEST_F(TrialMetricsTest, GarbageIsNoMetric) {
  Put("out/1/events.out.tfevents.1.host", std::string(5000, 'x'));
  Put("out/1/events.out.tfevents.2.host", "");
  EXPECT_TRUE(Read());
  EXPECT_THAT(metrics_.WhyNone(), testing::HasSubstr("(2 event files)"));
}

}  // namespace
}  // namespace trainyard::control
