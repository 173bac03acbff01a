#include "stores/metrics/usage_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>

#include "base/wire/time.h"

namespace trainyard::metrics {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const SysTime kStart{seconds{1'700'000'000}};

Sample Make(std::int64_t uid, const std::string& task, int attempt, int second) {
  Sample sample{.job_uid = uid, .task_name = task, .attempt = attempt};
  *sample.usage.mutable_time() = wire::ToProto(kStart + seconds{second});
  sample.usage.set_cpu_seconds(second);
  return sample;
}

class FixedClock final : public Clock {
 public:
  [[nodiscard]] SysTime Now() const override { return kStart + seconds{60}; }
};

std::vector<std::string> Names(const Result<std::vector<Sample>>& samples) {
  std::vector<std::string> names;
  if (!samples) return {samples.error().message};
  for (const Sample& sample : *samples)
    names.push_back(sample.task_name + "/" + std::to_string(sample.attempt) + "@" +
                    std::to_string(static_cast<int>(sample.usage.cpu_seconds())));
  return names;
}

class UsageSamplesTest : public testing::Test {
 protected:
  UsageSamplesTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("metrics-" + std::to_string(::getpid()) + "-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~UsageSamplesTest() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string Path() const { return (folder_ / "metrics.db").string(); }

  std::filesystem::path folder_;
};

TEST_F(UsageSamplesTest, ListsAJobsReplicaInTime) {
  auto samples = UsageSamples::Open(Path());
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_TRUE(samples->Add({Make(1, "a", 1, 1), Make(1, "b", 1, 2), Make(2, "a", 1, 3), Make(1, "a", 2, 4)}));
  EXPECT_THAT(Names(samples->List({.job_uid = 1})), ElementsAre("a/1@1", "b/1@2", "a/2@4"));
  EXPECT_THAT(Names(samples->List({.job_uid = 1, .task_name = "a"})), ElementsAre("a/1@1", "a/2@4"));
  EXPECT_THAT(Names(samples->List({.job_uid = 1, .begin = kStart + seconds{2}, .end = kStart + seconds{4}})),
              ElementsAre("b/1@2"));
  EXPECT_THAT(Names(samples->List({.job_uid = 3})), IsEmpty());
}

TEST_F(UsageSamplesTest, PrunesByAgeAndNumber) {
  auto samples = UsageSamples::Open(Path(), 3);
  ASSERT_TRUE(samples);
  ASSERT_TRUE(samples->Prune(kStart)) << "of nothing";
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(samples->Add({Make(1, "a", 1, i)}));
  ASSERT_TRUE(samples->Prune(kStart));
  EXPECT_THAT(Names(samples->List({.job_uid = 1})), ElementsAre("a/1@3", "a/1@4", "a/1@5"));
  ASSERT_TRUE(samples->Prune(kStart + kSamplesKept + seconds{5}));
  EXPECT_THAT(Names(samples->List({.job_uid = 1})), ElementsAre("a/1@5"));
  ASSERT_TRUE(samples->Prune(kStart + 2 * kSamplesKept));
  EXPECT_THAT(Names(samples->List({.job_uid = 1})), IsEmpty());
}

boost::asio::awaitable<void> ListInto(UsageHistory& history, Result<std::vector<Sample>>& into) {
  SampleQuery query{.job_uid = 1};
  into = co_await history.List(std::move(query));
}

TEST_F(UsageSamplesTest, AreReadInPages) {
  auto samples = UsageSamples::Open(Path());
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_TRUE(samples->Add({Make(1, "a", 1, 1), Make(1, "b", 1, 1), Make(2, "a", 1, 1), Make(1, "a", 1, 2)}));
  UsageSamples::Position after;
  std::vector<std::string> names;
  for (;;) {
    Result<UsageSamples::Page> page = samples->List({.job_uid = 1}, after, 1);
    ASSERT_TRUE(page) << page.error().message;
    if (page->samples.empty()) break;
    after = page->last;
    for (const std::string& name : Names(std::move(page->samples))) names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("a/1@1", "b/1@1", "a/1@2"));
}

TEST_F(UsageSamplesTest, KeepsWhatTheMachineUsed) {
  auto samples = UsageSamples::Open(Path());
  ASSERT_TRUE(samples) << samples.error().message;
  const MachineSample old{.time = kStart, .cpu_utilization = 0.5, .memory_utilization = 0.25, .replicas = 3};
  const MachineSample later{.time = kStart + kSamplesKept, .cpu_utilization = -1, .gpu_utilization = 0.125};
  ASSERT_TRUE(samples->AddMachine(old));
  ASSERT_TRUE(samples->AddMachine(later));
  EXPECT_THAT(samples->ListMachine(kStart).value(), ElementsAre(old, later));
  EXPECT_THAT(samples->ListMachine(kStart + seconds{1}).value(), ElementsAre(later));
  ASSERT_TRUE(samples->Prune(kStart + kSamplesKept + seconds{1}));
  EXPECT_THAT(samples->ListMachine(SysTime{}).value(), ElementsAre(later));
}

TEST_F(UsageSamplesTest, ErasesJobsInSteps) {
  auto samples = UsageSamples::Open(Path());
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_TRUE(samples->Add({Make(1, "a", 1, 1), Make(2, "b", 1, 2), Make(1, "a", 1, 3), Make(3, "c", 1, 4)}));
  EXPECT_EQ(samples->Erase({1, 3}, 2).value(), 2);
  EXPECT_EQ(samples->Erase({1, 3}, 2).value(), 1);
  EXPECT_EQ(samples->Erase({1, 3}, 2).value(), 0);
  EXPECT_THAT(Names(samples->List({.job_uid = 1})), IsEmpty());
  EXPECT_THAT(Names(samples->List({.job_uid = 2})), ElementsAre("b/1@2"));
}

TEST_F(UsageSamplesTest, TheHistoryKnowsTheLastAndKeepsAll) {
  boost::asio::io_context loop;
  const FixedClock clock;
  Result<std::vector<Sample>> listed;
  {
    auto history = UsageHistory::Open(loop.get_executor(), clock, Path());
    ASSERT_TRUE(history) << history.error().message;
    EXPECT_EQ((*history)->Find(1, "a"), nullptr);
    (*history)->Add(Make(1, "a", 1, 1));
    EXPECT_FALSE((*history)->Find(1, "a")->before);
    (*history)->Add(Make(1, "a", 1, 11));
    EXPECT_EQ((*history)->Find(1, "a")->before->cpu_seconds(), 1);
    boost::asio::co_spawn(loop, ListInto(**history, listed), [&loop](std::exception_ptr) { loop.stop(); });
    loop.run();
    loop.restart();
    EXPECT_THAT(Names(listed), ElementsAre("a/1@1", "a/1@11")) << "what waits to be written is seen";
    (*history)->Add(Make(1, "a", 2, 21));
    EXPECT_FALSE((*history)->Find(1, "a")->before) << "another attempt begins at nothing";
    (*history)->Forget(1, "a");
    EXPECT_EQ((*history)->Find(1, "a"), nullptr);
  }
  auto samples = UsageSamples::Open(Path());
  ASSERT_TRUE(samples);
  EXPECT_THAT(Names(samples->List({.job_uid = 1})), SizeIs(3)) << "the end of the server wrote the rest";
}

boost::asio::awaitable<void> ReportsInto(UsageHistory& history, Result<std::vector<StoredReport>>& into) {
  into = co_await history.ListReports({.job_uid = 1, .trial_ids = {""}});
}

TEST_F(UsageSamplesTest, AReportThatCouldNotBeWrittenIsWrittenLater) {
  boost::asio::io_context loop;
  const FixedClock clock;
  auto history = UsageHistory::Open(loop.get_executor(), clock, Path());
  ASSERT_TRUE(history) << history.error().message;
  auto behind = sqlite::Database::OpenAsItIs(Path());
  ASSERT_TRUE(behind) << behind.error().message;
  const auto list = [&] {
    Result<std::vector<StoredReport>> reports;
    boost::asio::co_spawn(loop, ReportsInto(**history, reports),
                          [&loop](std::exception_ptr) { loop.stop(); });
    loop.restart();
    loop.run();
    return reports;
  };
  (*history)->Put({.job_uid = 1, .trial_id = "", .attempt = 1, .tag = "loss", .report = {}});
  ASSERT_TRUE(behind->Execute("ALTER TABLE reports RENAME TO away"));
  EXPECT_FALSE(list());
  ASSERT_TRUE(behind->Execute("ALTER TABLE away RENAME TO reports"));
  EXPECT_THAT(list().value_or(std::vector<StoredReport>{}), SizeIs(1));
}

TEST_F(UsageSamplesTest, WhatAJobReportedIsWrittenBeforeItsEnd) {
  boost::asio::io_context loop;
  const FixedClock clock;
  auto history = UsageHistory::Open(loop.get_executor(), clock, Path());
  ASSERT_TRUE(history) << history.error().message;
  (*history)->Put({.job_uid = 1, .trial_id = "", .attempt = 1, .tag = "loss", .report = {}});
  (*history)->Put({.job_uid = 2, .trial_id = "", .attempt = 1, .tag = "loss", .report = {}});
  boost::asio::co_spawn(loop, (*history)->KeepReports(1), [&loop](std::exception_ptr) { loop.stop(); });
  loop.run();
  auto behind = sqlite::Database::OpenAsItIs(Path());
  ASSERT_TRUE(behind);
  auto statement = behind->Prepare("SELECT count(*) FROM reports WHERE job_uid = 1");
  ASSERT_TRUE(statement) << statement.error().message;
  auto row = statement->Query();
  ASSERT_TRUE(row.Next().value_or(false));
  EXPECT_EQ(row.Int(0), 1);
}

boost::asio::awaitable<void> PrintInto(UsageHistory& history, ThinnedQuery thinned,
                                       Result<std::string>& into) {
  SampleQuery query{.job_uid = 1};
  into = co_await history.PrintThinned(std::move(query), std::move(thinned));
}

TEST_F(UsageSamplesTest, AChartThatTakesTooLongEndsEarlierAndSaysWhere) {
  {
    auto samples = UsageSamples::Open(Path());
    ASSERT_TRUE(samples) << samples.error().message;
    std::vector<Sample> all;
    for (int i = 0; i < 2 * kThinnedPageSamples; ++i) {
      all.push_back(Make(1, "a", 1, i));
      all.back().usage.set_memory_bytes(1);
      all.back().usage.set_memory_total_bytes(2);
    }
    ASSERT_TRUE(samples->Add(all));
  }
  boost::asio::io_context loop;
  const FixedClock clock;
  auto history = UsageHistory::Open(loop.get_executor(), clock, Path());
  ASSERT_TRUE(history) << history.error().message;
  const auto print = [&](std::chrono::seconds time_max) {
    ThinnedQuery thinned{.project = "p",
                         .job_id = "j",
                         .metrics = {FindMetric("ml.googleapis.com/training/memory/utilization")},
                         .points_max = 8,
                         .time_max = time_max};
    Result<std::string> printed;
    boost::asio::co_spawn(loop, PrintInto(**history, std::move(thinned), printed),
                          [&loop](std::exception_ptr) { loop.stop(); });
    loop.restart();
    loop.run();
    return printed.value_or("");
  };
  const auto second = [](int i) { return wire::PrintTime(kStart + seconds{i}); };
  const std::string whole = print(std::chrono::hours{1});
  EXPECT_THAT(whole, HasSubstr(second(2 * kThinnedPageSamples - 1)));
  EXPECT_THAT(whole, Not(HasSubstr("executionErrors")));
  const std::string cut = print(seconds{0});
  const std::string last = second(kThinnedPageSamples - 1);
  EXPECT_THAT(cut, HasSubstr("\"endTime\":\"" + last)) << "what was read is there";
  EXPECT_THAT(cut,
              HasSubstr(R"("executionErrors":[{"code":4,"message":"Reading the samples took more than 0 s)"));
  EXPECT_THAT(cut, HasSubstr("startTime=" + last));
}

}  // namespace
}  // namespace trainyard::metrics
