#include "replica/supervisor/metric_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "programs/runtimes/oci_container.h"
#include "programs/sandbox/sandbox.h"
#include "replica/supervisor/testing/attempt_fixture.h"
#include "rules/measurement/hypertune_tags.h"
#include "rules/measurement/report.h"
#include "rules/measurement/testing/event_bytes.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using measurement::EventBytes;
using testing::ElementsAre;

const std::vector<std::string> kTags = {"acc"};

std::vector<double> Values(const v1::MetricReport& report) {
  std::vector<double> values;
  for (const auto& one : report.measurements()) values.push_back(one.value());
  return values;
}

std::string Line(int step, const std::string& value, const std::string& tag = "acc") {
  return R"({")" + tag + R"(": ")" + value + R"(", "global_step": ")" + std::to_string(step) +
         R"(", "timestamp": )" + std::to_string(100 + step) + "}\n";
}

class MetricWatchTest : public testing::Test {
 protected:
  MetricWatchTest() {
    fs::create_directories(dir_.Work());
    fs::create_directories(dir_.Tmp());
    watch_.emplace(kTags, dir_, now_);
  }
  void Write(const std::string& path, const std::string& bytes) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void Append(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
  }
  /// As the loop does when the search is due.
  void Search() {
    now_ += kReportInterval;
    static_cast<void>(watch_->TakeDue(now_));
    now_ = watch_->deadline();
    watch_->Step(now_);
  }
  bool Notified() {
    pollfd ready{.fd = watch_->fd(), .events = POLLIN, .revents = 0};
    return poll(&ready, 1, 0) == 1;
  }
  [[nodiscard]] std::string MetricFile() const { return dir_.Tmp() + "/hypertune/output.metrics"; }

  TemporaryFolder folder_;
  AttemptDir dir_{folder_.path() + "/attempt"};
  MetricWatch::Time now_{};
  std::optional<MetricWatch> watch_;
};

TEST_F(MetricWatchTest, TheMetricFileIsReadWhenItWasWritten) {
  EXPECT_FALSE(Notified());
  Write(MetricFile(), Line(1, "0.25"));
  ASSERT_TRUE(Notified());
  watch_->OnReadable();
  EXPECT_FALSE(Notified());
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  EXPECT_EQ(watch_->Report().place(), "/tmp/hypertune/output.metrics");
  Write(MetricFile() + ".new", Line(2, "0.5"));
  fs::rename(MetricFile() + ".new", MetricFile());
  ASSERT_TRUE(Notified());
  watch_->OnReadable();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25, 0.5));
}

TEST_F(MetricWatchTest, AFolderThatWasMadeAnewIsSeenByTheSearch) {
  fs::remove_all(dir_.Tmp() + "/hypertune");
  Write(MetricFile(), Line(1, "0.25"));
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
}

TEST_F(MetricWatchTest, EventFilesAreFoundWhereverTheReplicaMayWrite) {
  Write(dir_.Work() + "/logs/train/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Write(dir_.Tmp() + "/x/validation/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.5}));
  Write(dir_.Work() + "/logs/events.txt", "no events");
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.5));
  EXPECT_EQ(watch_->Report().place(), "/tmp/x/validation");
  EXPECT_THAT(watch_->Report().places(),
              ElementsAre("/tmp/hypertune/output.metrics (not written)", "its own folders (2 event files)"));
}

TEST_F(MetricWatchTest, WhatAContainerWritesIsLookedAtToo) {
  Write(WritableLayer(dir_.Container()) + "/app/logs/events.out.tfevents.1.host",
        EventBytes({"acc", 1, 10, 0.25}));
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  EXPECT_EQ(watch_->Report().place(), "/app/logs");
}

TEST_F(MetricWatchTest, AnEventFileIsReadOnAsItGrows) {
  const std::string file = dir_.Work() + "/events.out.tfevents.1.host";
  const std::string second = EventBytes({"acc", 2, 11, 0.5});
  Write(file, EventBytes({"acc", 1, 10, 0.25}) + second.substr(0, 10));
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  Append(file, second.substr(10));
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25, 0.5));
}

TEST_F(MetricWatchTest, TheMetricFileWinsOverEventFiles) {
  Write(dir_.Work() + "/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Write(MetricFile(), Line(1, "0.75"));
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.75));
}

TEST_F(MetricWatchTest, OtherTagsInTheFileDoNot) {
  Write(dir_.Work() + "/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Write(MetricFile(), Line(1, "0.75", "loss"));
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  EXPECT_THAT(watch_->Report().seen_tags(), ElementsAre("loss"));
}

TEST_F(MetricWatchTest, ATagWithASuffixIsWarnedOfOnce) {
  Write(dir_.Work() + "/events.out.tfevents.1.host", EventBytes({"acc_1", 1, 10, 0.25}));
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  EXPECT_THAT(watch_->TakeWarning(), testing::HasSubstr("'acc_1' in working directory"));
  EXPECT_EQ(watch_->TakeWarning(), "");
}

TEST_F(MetricWatchTest, EachTagIsTakenFromTheBestPlace) {
  watch_.emplace(std::vector<std::string>{"acc", "loss", "auc"}, dir_, now_);
  Write(
      dir_.Work() + "/events.out.tfevents.1.host",
      EventBytes({"acc", 1, 10, 0.25}) + EventBytes({"loss", 1, 10, 2}) + EventBytes({"auc_1", 1, 10, 0.5}));
  Write(MetricFile(), Line(1, "1", "loss") + Line(1, "7", "other"));
  watch_->ReadRest();
  const v1::MetricReport report = watch_->Report();
  EXPECT_THAT(Values(report), ElementsAre(0.25));
  EXPECT_EQ(report.place(), "working directory");
  EXPECT_EQ(measurement::FinalMeasurementOf("loss", report)->value(), 1);
  EXPECT_EQ(measurement::FinalMeasurementOf("auc", report)->value(), 0.5);
  EXPECT_THAT(report.seen_tags(), ElementsAre("other"));
  EXPECT_THAT(watch_->TakeWarning(), testing::HasSubstr("'auc_1' in working directory"));
  EXPECT_EQ(watch_->TakeWarning(), "");
}

TEST_F(MetricWatchTest, ReportsAreNotDueTooOften) {
  EXPECT_FALSE(watch_->TakeDue(now_));
  Write(MetricFile(), Line(1, "0.25"));
  watch_->OnReadable();
  EXPECT_TRUE(watch_->TakeDue(now_));
  EXPECT_FALSE(watch_->TakeDue(now_));
  Write(MetricFile(), Line(2, "0.25"));
  watch_->OnReadable();
  EXPECT_FALSE(watch_->TakeDue(now_));
  EXPECT_EQ(watch_->deadline(), now_ + kReportInterval);
  EXPECT_TRUE(watch_->TakeDue(now_ + kReportInterval));
  Write(MetricFile(), Line(2, "0.25"));
  watch_->OnReadable();
  EXPECT_FALSE(watch_->TakeDue(now_ + 9 * kReportInterval)) << "nothing new";
}

TEST_F(MetricWatchTest, WhatIsNotAFileIsNotRead) {
  const std::string elsewhere = folder_.path() + "/elsewhere";
  Write(elsewhere + "/output.metrics", Line(1, "0.25"));
  Write(elsewhere + "/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  fs::create_symlink(elsewhere, dir_.Work() + "/link");
  fs::create_symlink(elsewhere + "/events.out.tfevents.1.host", dir_.Work() + "/events.out.tfevents.1.host");
  ASSERT_EQ(mkfifo((dir_.Work() + "/events.out.tfevents.2.host").c_str(), 0600), 0);
  fs::create_symlink(elsewhere + "/output.metrics", MetricFile());
  watch_->ReadRest();
  fs::remove_all(dir_.Tmp() + "/hypertune");
  fs::create_symlink(elsewhere, dir_.Tmp() + "/hypertune");
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), testing::IsEmpty());
}

TEST_F(MetricWatchTest, ALargeFileIsReadBetweenOtherThings) {
  std::string bytes;
  const std::string filler = measurement::RecordBytes(std::string(1 << 20, 'x'));
  for (int i = 0; i < 20; ++i) bytes += filler;
  Write(dir_.Work() + "/events.out.tfevents.1.host", bytes + EventBytes({"acc", 1, 10, 0.25}));
  Search();
  EXPECT_THAT(Values(watch_->Report()), testing::IsEmpty());
  static_cast<void>(watch_->TakeDue(now_ + kReportInterval));
  EXPECT_LT(watch_->deadline() - now_, kSearchInterval);
  Search();
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
}

TEST_F(MetricWatchTest, AFolderOfVeryManyFilesLeavesRoomForOthers) {
  watch_.emplace(kTags, dir_, now_, EventSearchLimits{.folder_entries = 50, .entries = 1000});
  for (int i = 0; i < 200; ++i) Write(dir_.Work() + "/data/" + std::to_string(i) + ".jpg", "");
  Write(dir_.Work() + "/logs/run/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Write(dir_.Home() + "/logs/validation/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.5}));
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.5));
  EXPECT_EQ(watch_->Report().places(1), "its own folders (2 event files, but not everything was searched)");
}

TEST_F(MetricWatchTest, ADataSetOfManyFoldersIsSearchedLast) {
  watch_.emplace(kTags, dir_, now_, EventSearchLimits{.folder_entries = 50, .entries = 200});
  for (int i = 0; i < 400; ++i) {
    const std::string name = std::to_string(i % 20) + "/" + std::to_string(i) + ".jpg";
    Write(dir_.Work() + "/data/" + name, "");
    Write(dir_.Tmp() + "/" + name, "");
  }
  Write(dir_.Work() + "/a/b/c/d/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  watch_->ReadRest();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  EXPECT_EQ(watch_->Report().places(1), "its own folders (1 event file, but not everything was searched)");
}

TEST_F(MetricWatchTest, ASearchUpToItsLimitsIsAWholeOne) {
  watch_.emplace(kTags, dir_, now_, EventSearchLimits{.folder_entries = 2, .entries = 5, .depth = 2});
  Write(dir_.Work() + "/a/b/events.out.tfevents.1.host", EventBytes({"acc", 1, 10, 0.25}));
  Write(dir_.Work() + "/c", "");
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25));
  EXPECT_EQ(watch_->Report().places(1), "its own folders (1 event file)");
  fs::remove(dir_.Work() + "/c");
  Write(dir_.Work() + "/a/b/c/events.out.tfevents.2.host", EventBytes({"acc", 2, 10, 0.5}));
  Search();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25)) << "too deep";
  EXPECT_EQ(watch_->Report().places(1), "its own folders (1 event file, but not everything was searched)");
}

TEST_F(MetricWatchTest, OfAVeryLargeMetricFileTheEndCounts) {
  // The cut leaves the end of the first line, which looks like a report but is not one.
  const std::string last = Line(2, "0.75");
  const std::string cut = Line(1, "0.5");
  const std::string filler(kMetricFileBytesMax - cut.size() - last.size() - 1, ' ');
  Write(MetricFile(), Line(1, "0.25"));
  watch_->OnReadable();
  Write(MetricFile(), Line(0, "0.125") + "note: " + cut + filler + "\n" + last);
  watch_->OnReadable();
  EXPECT_THAT(Values(watch_->Report()), ElementsAre(0.25, 0.75)) << "what was read before stays";
}

TEST_F(MetricWatchTest, WhatItDoesNotFindIsNoError) {
  fs::remove_all(dir_.path);
  Search();
  watch_->ReadRest();
  EXPECT_THAT(watch_->Report().places(),
              ElementsAre("/tmp/hypertune/output.metrics (not written)", "its own folders (no event files)"));
}

// --- In a supervisor

class TrialAttempt : public AttemptFixture {
 protected:
  TrialAttempt() {
    manifest_.set_trial_id("3");
    manifest_.set_metric_tag("acc");
  }
  std::vector<v1::MetricReport> Reports() {
    const std::scoped_lock lock(memory_->mutex);
    std::vector<v1::MetricReport> reports;
    for (const v1::FromReplica& frame : memory_->frames) {
      if (frame.has_metrics()) reports.push_back(frame.metrics());
    }
    return reports;
  }
  bool WaitForValue(double value) {
    return server_->WaitFor([value](const FakeServer::Memory& memory) {
      return std::ranges::any_of(memory.frames, [value](const v1::FromReplica& frame) {
        return !frame.metrics().measurements().empty() &&
               frame.metrics().measurements().rbegin()->value() == value;
      });
    });
  }
};

constexpr const char* kReporter = R"(
import json, os, sys, time
path = os.environ['CLOUD_ML_HP_METRIC_FILE']
os.makedirs(os.path.dirname(path), exist_ok=True)
entries = []
def report(value, step, tag=os.environ['CLOUD_ML_HP_METRIC_TAG']):
  entries.append(json.dumps({'timestamp': time.time(), 'trial': os.environ['CLOUD_ML_TRIAL_ID'], tag: str(float(value)),
                             'global_step': str(step), 'checkpoint_path': ''}, sort_keys=True))
  with open(path, 'w') as file:
    for entry in entries[-100:]: file.write(entry + '\n')
)";

TEST_F(TrialAttempt, WhatIsReportedGoesToTheServerAtOnceAndIntoTheExitRecord) {
  PythonProgram(std::string(kReporter) + "report(0.5, 1)\nimport signal; signal.pause()\n");
  Run();
  EXPECT_TRUE(WaitForValue(0.5));
  Stop("enough", false);
  const v1::ExitRecord exit = Finish();
  EXPECT_THAT(Values(exit.metrics()), ElementsAre(0.5));
  EXPECT_EQ(exit.metrics().place(), "/tmp/hypertune/output.metrics");
}

TEST_F(TrialAttempt, NothingIsLostOfManyReportsNorOfTheLastOne) {
  PythonProgram(std::string(kReporter) + "for i in range(250):\n  report(i, i)\n  time.sleep(0.01)\n");
  Run();
  const v1::ExitRecord exit = Finish();
  ASSERT_EQ(exit.metrics().measurements_size(), 250);
  EXPECT_EQ(exit.metrics().measurements(0).value(), 0);
  EXPECT_EQ(exit.metrics().measurements(249).value(), 249);
  EXPECT_LT(Reports().size(), 100U) << "one for each write";
}

TEST_F(TrialAttempt, AServerThatComesBackIsToldAgain) {
  PythonProgram(std::string(kReporter) + "report(0.5, 1)\nimport signal; signal.pause()\n");
  Run();
  EXPECT_TRUE(WaitForValue(0.5));
  StopServer();
  {
    const std::scoped_lock lock(memory_->mutex);
    memory_->frames.clear();
  }
  StartServer();
  EXPECT_TRUE(WaitForValue(0.5));
  Stop("enough", true);
  Finish();
}

TEST_F(TrialAttempt, ACrashKeepsWhatWasReported) {
  PythonProgram(std::string(kReporter) + "report(0.5, 1)\nreport('nan', 2)\nos.abort()\n");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.signal(), SIGABRT);
  ASSERT_EQ(exit.metrics().measurements_size(), 2);
  EXPECT_TRUE(std::isnan(exit.metrics().measurements(1).value()));
}

class PlainAttempt : public AttemptFixture {};

TEST_F(PlainAttempt, ASecretIsNoMetricsName) {
  const std::string secret = "hunter2/" + std::string(200, 'x');  // more than is kept of a name
  (*manifest_.mutable_environment())["TOKEN"] = secret;
  manifest_.add_secrets("TOKEN");
  manifest_.set_metadata_host_name("1-master-replica-0-1.0123456789abcdef.metadata.trainyard");
  PythonProgram(
      "import os\nos.environ.update(CLOUD_ML_HP_METRIC_FILE='/tmp/hypertune/output.metrics', "
      "CLOUD_ML_HP_METRIC_TAG='', CLOUD_ML_TRIAL_ID='')\n" +
      std::string(kReporter) +
      "report(0.5, 1, 'a')\nreport(0.5, 2, os.environ['TOKEN'])\n"
      "report(0.5, 3, 'of ' + os.environ['TOKEN'])\nreport(0.5, 4, 'x 0123456789abcdef')\n"
      "print('at 1-master-replica-0-1.0123456789abcdef.metadata.trainyard')\n");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_THAT(exit.metrics().seen_tags(), ElementsAre("x ***"));
  std::set<std::string> names;
  {
    const std::scoped_lock lock(memory_->mutex);
    for (const v1::FromReplica& frame : memory_->frames) {
      if (frame.has_metrics()) names.insert(std::string(measurement::TagOf(frame.metrics())));
    }
  }
  EXPECT_THAT(names, ElementsAre("***", "a", "of ***", "x ***"));
  EXPECT_THAT(UserLines(), testing::Contains("INFO at 1-master-replica-0-1.***.metadata.trainyard"));
}

TEST_F(TrialAttempt, ASecretIsNoNameOfWhatWasSeen) {
  (*manifest_.mutable_environment())["TOKEN"] = "hunter2";
  manifest_.add_secrets("TOKEN");
  PythonProgram(std::string(kReporter) + "report(0.5, 1, os.environ['TOKEN'])\n");
  Run();
  EXPECT_THAT(Finish().metrics().seen_tags(), ElementsAre("***"));
}

TEST_F(TrialAttempt, ATagWithASuffixInTheLastEventIsWarnedOf) {
  const std::string bytes = EventBytes({"acc_1", 1, 10, 0.25});
  std::ofstream(folder_.path() + "/environments/events", std::ios::binary) << bytes;
  Program("cp " + folder_.path() + "/environments/events events.out.tfevents.1.host");
  Run();
  EXPECT_THAT(Values(Finish().metrics()), ElementsAre(0.25));
  EXPECT_THAT(Lines(), testing::Contains(testing::HasSubstr("WARNING No summary is called 'acc'")));
}

TEST_F(TrialAttempt, AProgramThatReportsNothingLeavesWhereItWasLookedFor) {
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_THAT(exit.metrics().places(),
              ElementsAre("/tmp/hypertune/output.metrics (not written)", "its own folders (no event files)"));
}

TEST_F(TrialAttempt, WithoutATmpOfItsOwnTheFileIsElsewhere) {
  options_ = {"--isolation=" + std::to_string(static_cast<int>(Isolation::kNone))};
  PythonProgram(std::string(kReporter) + "report(0.5, 1)\nassert not path.startswith('/tmp/hypertune')\n");
  Run();
  EXPECT_THAT(Values(Finish().metrics()), ElementsAre(0.5));
}

TEST_F(TrialAttempt, AWorkersReportsDoNotCount) {
  manifest_.mutable_replica()->set_type(v1::WORKER);
  *cluster_.add_endpoints() = cluster_.endpoints(0);
  cluster_.mutable_endpoints(1)->mutable_replica()->set_type(v1::WORKER);
  PythonProgram(std::string(kReporter) + "report(0.5, 1)\n");
  Run();
  EXPECT_FALSE(Finish().has_metrics());
}

TEST_F(TrialAttempt, OtherJobsAreToldNothingOfIt) {
  manifest_.clear_trial_id();
  manifest_.clear_metric_tag();
  Program("env");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_FALSE(exit.has_metrics());
  EXPECT_TRUE(Reports().empty());
  for (const std::string& line : UserLines()) EXPECT_THAT(line, testing::Not(testing::HasSubstr("METRIC")));
}

}  // namespace
}  // namespace trainyard::replica
