#include "replica/supervisor/metric_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>

#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using measurement::TagOf;
using testing::ElementsAre;
using testing::IsEmpty;

std::string Line(const std::string& tag, int step) {
  return R"({")" + tag + R"(": "0.5", "global_step": ")" + std::to_string(step) + R"(", "timestamp": )" +
         std::to_string(100 + step) + "}\n";
}

/// "acc 2": the tag and how many measurements it has.
std::vector<std::string> Texts(const std::vector<v1::MetricReport>& reports) {
  std::vector<std::string> texts;
  for (const v1::MetricReport& report : reports)
    texts.push_back(std::string(TagOf(report)) + " " + std::to_string(report.measurements_size()));
  return texts;
}

class TagWatchTest : public testing::Test {
 protected:
  TagWatchTest() {
    fs::create_directories(dir_.Tmp());
    watch_.emplace("", dir_);
  }
  void Write(const std::string& bytes) {
    std::ofstream(dir_.Metrics() + "/output.metrics", std::ios::binary) << bytes;
  }
  bool Notified() {
    pollfd ready{.fd = watch_->fd(), .events = POLLIN, .revents = 0};
    return poll(&ready, 1, 0) == 1;
  }

  TemporaryFolder folder_;
  AttemptDir dir_{folder_.path() + "/attempt"};
  TagWatch::Time now_{};
  std::optional<TagWatch> watch_;
};

TEST_F(TagWatchTest, DoesNothingBeforeTheFileIsWritten) {
  EXPECT_FALSE(Notified());
  EXPECT_EQ(watch_->deadline(), TagWatch::Time::max());
  EXPECT_THAT(watch_->TakeDue(now_), IsEmpty());
  watch_->ReadRest();
  EXPECT_TRUE(watch_->tags().last().measurements().empty());
}

TEST_F(TagWatchTest, ReportsWhatChangedAtIntervals) {
  Write(Line("acc", 1) + Line("loss", 1));
  ASSERT_TRUE(Notified());
  watch_->OnReadable(now_);
  EXPECT_EQ(watch_->fd(), -1) << "it rests";
  now_ += kTagsInterval;
  EXPECT_THAT(Texts(watch_->TakeDue(now_)), ElementsAre("acc 1", "loss 1"));
  EXPECT_EQ(watch_->deadline(), TagWatch::Time::max());
  Write(Line("acc", 1) + Line("loss", 1) + Line("acc", 2));
  ASSERT_TRUE(Notified());
  watch_->OnReadable(now_);
  EXPECT_THAT(watch_->TakeDue(now_), IsEmpty());
  EXPECT_LE(watch_->deadline(), now_ + kTagsInterval);
  EXPECT_THAT(Texts(watch_->TakeDue(now_ + kTagsInterval)), ElementsAre("acc 2"));
  EXPECT_THAT(Texts(watch_->tags().All()), ElementsAre("acc 2", "loss 1"));
}

TEST_F(TagWatchTest, ALinkInPlaceOfTheFileIsNotFollowed) {
  std::ofstream(folder_.path() + "/elsewhere") << Line("acc", 1);
  fs::create_symlink(folder_.path() + "/elsewhere", dir_.Metrics() + "/output.metrics");
  watch_->ReadRest();
  EXPECT_FALSE(watch_->tags().changed());
}

// --- In a supervisor

class OrdinaryAttempt : public AttemptFixture {
 protected:
  void Reporter(const std::string& more) {
    PythonProgram(R"(
import json, os, signal
entries = []
def report(tag, value, step):
  os.makedirs('/tmp/hypertune', exist_ok=True)
  entries.append(json.dumps({'timestamp': 1000 + step, 'trial': '0', tag: str(value), 'global_step': str(step),
                             'checkpoint_path': ''}))
  with open('/tmp/hypertune/output.metrics', 'w') as file:
    for entry in entries: file.write(entry + '\n')
)" + more);
  }
  std::vector<std::string> Tags() {
    const std::scoped_lock lock(memory_->mutex);
    std::vector<std::string> tags;
    for (const v1::FromReplica& frame : memory_->frames)
      if (frame.has_metrics()) tags.emplace_back(TagOf(frame.metrics()));
    return tags;
  }
};

TEST_F(OrdinaryAttempt, ReportsEveryTagAndTheLastValueAtTheEnd) {
  Reporter("report('acc', 0.25, 1)\nreport('loss', 4, 2)\n");
  Run();
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_EQ(TagOf(exit.metrics()), "loss");
  ASSERT_EQ(exit.metrics().measurements_size(), 1);
  EXPECT_EQ(exit.metrics().measurements(0).value(), 4);
  const std::vector<std::string> tags = Tags();
  EXPECT_THAT(tags, testing::IsSupersetOf({"acc", "loss"}));
}

TEST_F(OrdinaryAttempt, AServerThatComesBackAfterTheEndIsToldAll) {
  Reporter(
      "report('acc', 0.25, 1)\nprint('first', flush=True)\nwhile not os.path.exists('go'): pass\n"
      "report('loss', 4, 2)\n");
  Run();
  ASSERT_TRUE(WaitForLine("first"));
  StopServer();
  {
    const std::scoped_lock lock(memory_->mutex);
    memory_->frames.clear();
  }
  std::ofstream(dir_.Work() + "/go") << "now";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!fs::exists(dir_.Exit()) && std::chrono::steady_clock::now() < deadline) poll(nullptr, 0, 5);
  StartServer();
  Finish();
  EXPECT_THAT(Tags(), testing::IsSupersetOf({"acc", "loss"}));
}

TEST_F(OrdinaryAttempt, AWorkersReportsDoNotCount) {
  manifest_.mutable_replica()->set_type(v1::WORKER);
  *cluster_.add_endpoints() = cluster_.endpoints(0);
  cluster_.mutable_endpoints(1)->mutable_replica()->set_type(v1::WORKER);
  Reporter("report('acc', 0.25, 1)\n");
  Run();
  EXPECT_FALSE(Finish().has_metrics());
  EXPECT_THAT(Tags(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::replica
