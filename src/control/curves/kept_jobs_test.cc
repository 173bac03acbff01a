#include "control/curves/kept_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "rules/measurement/testing/event_bytes.h"
#include "stores/storage/testing/storage_fixture.h"

namespace trainyard::curves {
namespace {

using measurement::EventBytes;

class KeptJobsTest : public testing::Test {
 protected:
  static boost::asio::awaitable<boost::asio::any_io_executor> Executor() {
    co_return co_await boost::asio::this_coro::executor;
  }
  [[nodiscard]] JobPlace Place(std::int64_t uid = 1) {
    return {.uid = uid, .folder = {.bucket = "bucket", .object = "out/"}, .created = created_};
  }
  void Put(const std::string& object, const std::string& bytes) {
    ASSERT_TRUE(storage_.Put(object, bytes).has_value());
  }
  /// The number of points by tag, and the rest of the result.
  struct Answer {
    std::map<std::string, std::size_t> points;
    bool reading = false;
    std::size_t older = 0;
  };
  Answer Ask(JobPlace place, KeptJobs::ReportedCurves reported = {}) {
    Answer answer;
    const Status asked = storage_.Await(
        kept_.Ask(std::move(place), std::move(reported), [&answer](const KeptJobs::CurveState& seen) {
          for (const auto& [name, series] : seen.gathered.series())
            answer.points[name.tag] = series.columns.size();
          answer.reading = seen.reading;
          answer.older = seen.older;
        }));
    EXPECT_TRUE(asked.has_value());
    return answer;
  }

  storage::TemporaryFolder folder_;
  storage::Storage storage_{folder_.path()};
  SysTime created_ = storage_.clock().Now();
  KeptJobs kept_{storage_.Await(Executor()), storage_.buckets()};
};

TEST_F(KeptJobsTest, ReadsWhatIsNewSinceTheLastQuestion) {
  EXPECT_TRUE(Ask(Place()).points.empty()) << "the bucket does not exist yet";
  const std::string first = EventBytes({"loss", 1, 1, 1});
  Put("out/events.out.tfevents.1", first);
  Put("other/events.out.tfevents.1", first);
  Put("out/model", "no events");
  kept_.ForgetBefore(std::chrono::steady_clock::time_point::max());
  EXPECT_EQ(Ask(Place()).points, (std::map<std::string, std::size_t>{{"loss", 1}}));
  Put("out/events.out.tfevents.1", first + EventBytes({"loss", 2, 2, 2}));
  kept_.ListAgain();
  EXPECT_EQ(Ask(Place()).points, (std::map<std::string, std::size_t>{{"loss", 2}}));
}

TEST_F(KeptJobsTest, ReadsNothingAfterTheDeadline) {
  Put("out/events.out.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  bool reading = false;
  std::size_t series = 0;
  const KeptJobs::Use use = [&](const KeptJobs::CurveState& seen) {
    reading = seen.reading;
    series = seen.gathered.series().size();
  };
  const auto ask = [&](KeptJobs::TimePoint deadline) {
    EXPECT_TRUE(storage_.Await(kept_.Ask(Place(), {}, use, deadline)));
  };
  ask(std::chrono::steady_clock::now());
  EXPECT_TRUE(reading);
  EXPECT_EQ(series, 0U);
  ask(KeptJobs::TimePoint::max());
  EXPECT_FALSE(reading);
  EXPECT_EQ(series, 1U);
  ask(std::chrono::steady_clock::now());
  EXPECT_EQ(series, 1U) << "what is known is seen";
}

TEST_F(KeptJobsTest, LeavesOutFilesFromBeforeTheJob) {
  Put("out/events.out.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  JobPlace later = Place();
  later.created += std::chrono::hours(1);
  const Answer answer = Ask(later);
  EXPECT_TRUE(answer.points.empty());
  EXPECT_EQ(answer.older, 1U);
}

TEST_F(KeptJobsTest, ForgetsAFolderThatMayNotBeReadAnyMore) {
  Put("out/events.out.tfevents.1", EventBytes({"loss", 1, 1, 1}));
  EXPECT_EQ(Ask(Place()).points.size(), 1U);
  JobPlace refused = Place();
  refused.folder.bucket.clear();
  EXPECT_TRUE(Ask(refused).points.empty());
  EXPECT_EQ(Ask(Place()).points.size(), 1U);
}

TEST_F(KeptJobsTest, ShowsCurvesFromElsewhereWithoutAFolder) {
  JobPlace nowhere{.uid = 7, .created = created_};
  const measurement::SeriesName name{.trial_id = "1", .tag = "acc", .hypertune = true};
  measurement::Columns columns;
  columns.Append(1, 1, 0.5);
  EXPECT_EQ(Ask(nowhere, {.curves = {{name, columns}}}).points.at("acc"), 1U);
  columns.Append(2, 2, 0.75);
  EXPECT_EQ(Ask(nowhere, {.curves = {{name, columns}}}).points.at("acc"), 2U);
}

TEST_F(KeptJobsTest, KnowsTheTrialsThatHaveEnded) {
  const JobPlace nowhere{.uid = 7, .created = created_};
  const auto known = [](std::int64_t until) { return ReportsKnown{.until = until}; };
  EXPECT_TRUE(Ask(nowhere, {.curves = {}, .before = known(10), .now = known(20)}).reading)
      << "the trials up to 10 were read for a job that is no longer kept";
  Ask(nowhere, {.curves = {}, .before = {}, .now = known(20)});
  EXPECT_EQ(kept_.KnownReports(7), known(20));
  Ask(nowhere, {.curves = {}, .before = known(20), .now = known(20)});
  Ask(nowhere, {.curves = {}, .before = {}, .now = known(10)});
  EXPECT_EQ(kept_.KnownReports(7), known(20)) << "another question was first";
  kept_.ForgetBefore(std::chrono::steady_clock::time_point::max());
  Ask(nowhere, {.curves = {}, .before = known(20), .now = known(30)});
  EXPECT_EQ(kept_.KnownReports(7), ReportsKnown{}) << "what was before 20 is not known";
}

TEST_F(KeptJobsTest, SaysThatReportsAreLeftToRead) {
  const JobPlace nowhere{.uid = 7, .created = created_};
  const ReportsKnown half{.until = 0, .next = 1'000};
  EXPECT_TRUE(Ask(nowhere, {.curves = {}, .before = {}, .now = half, .is_at_end = false}).reading);
  EXPECT_FALSE(Ask(nowhere, {.curves = {}, .before = half, .now = {}}).reading);
  EXPECT_FALSE(Ask(nowhere, {.curves = {}, .before = {}, .now = half, .is_at_end = false}).reading)
      << "all were read once";
}

TEST_F(KeptJobsTest, ForgetsWhatNobodyAsksAbout) {
  Ask(Place(1));
  Ask(Place(2));
  EXPECT_EQ(kept_.size(), 2U);
  kept_.ForgetBefore(std::chrono::steady_clock::now() - kForgottenAfter);
  EXPECT_EQ(kept_.size(), 2U);
  kept_.ForgetBefore(std::chrono::steady_clock::time_point::max());
  EXPECT_EQ(kept_.size(), 0U);
}

TEST_F(KeptJobsTest, HoldsABoundedNumberOfBytes) {
  const auto reported = [](std::size_t points) {
    measurement::Columns columns;
    for (std::size_t i = 0; i < points; ++i) columns.Append(static_cast<double>(i), 1, 0);
    KeptJobs::ReportedCurves curves;
    curves.curves.emplace_back(measurement::SeriesName{.tag = "loss", .hypertune = true}, columns);
    return curves;
  };
  KeptJobs kept(storage_.Await(Executor()), storage_.buckets(),
                {.bytes = 2'500 * measurement::kPointBytes, .files = 1});
  const auto ask = [&](std::int64_t uid, std::size_t points) {
    JobPlace nowhere{.uid = uid, .created = created_};
    EXPECT_TRUE(storage_.Await(kept.Ask(nowhere, reported(points), [](const KeptJobs::CurveState&) {})));
    return kept.size();
  };
  EXPECT_EQ(ask(1, 1'000), 1U);
  EXPECT_EQ(ask(2, 1'000), 2U);
  EXPECT_EQ(ask(3, 1'000), 2U) << "the first one was asked about longest ago";
  EXPECT_EQ(ask(4, 5'000), 1U) << "the last one stays";
}

TEST_F(KeptJobsTest, KnowsABoundedNumberOfFiles) {
  for (const char* tag : {"a", "b", "c", "d", "e"})
    Put(std::string("out/") + tag + "/events.out.tfevents.1", EventBytes({tag, 1, 1, 1}));
  KeptJobs kept(storage_.Await(Executor()), storage_.buckets(), {.bytes = kBytesHeldMax, .files = 3});
  for (int question = 0; question < 3; ++question) {
    kept.ListAgain();
    std::size_t files = 0;
    bool reading = true;
    EXPECT_TRUE(storage_.Await(kept.Ask(Place(), {}, [&](const KeptJobs::CurveState& seen) {
      files = seen.gathered.files();
      reading = seen.reading;
    })));
    EXPECT_EQ(files, 3U);
    EXPECT_FALSE(reading);
  }
}

TEST_F(KeptJobsTest, HoldsABoundedNumberOfJobs) {
  for (std::size_t uid = 1; uid <= kJobsHeldMax + 5; ++uid)
    Ask({.uid = static_cast<std::int64_t>(uid), .created = created_});
  EXPECT_EQ(kept_.size(), kJobsHeldMax);
}

}  // namespace
}  // namespace trainyard::curves
