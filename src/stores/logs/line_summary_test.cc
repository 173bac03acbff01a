#include "stores/logs/log_lines.h"

#include <gmock/gmock.h>

#include "base/wire/time.h"
#include "stores/logs/log_database.h"
#include "stores/logs/testing/line_log_fixture.h"

namespace trainyard::logs {
namespace {

using control::v1::LogSummary;
using testing::ElementsAre;

class LineSummary : public LineLogTest {
 protected:
  void ForgetCounts(const char* where) {
    auto database = OpenLogDatabase(folder_ + "/logs.db", false).value();
    ASSERT_TRUE(
        database.Execute(std::string("UPDATE chunks SET warnings = NULL, errors = NULL WHERE ") + where));
  }
};

struct Sums {
  std::int64_t lines = 0;
  std::int64_t warnings = 0;
  std::int64_t errors = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

Sums SumsOf(const LogSummary& summary) {
  Sums sums;
  for (const LogSummary::Bucket& bucket : summary.buckets()) {
    EXPECT_EQ(bucket.first(), sums.lines);
    sums.lines += bucket.lines();
    sums.warnings += bucket.warnings();
    sums.errors += bucket.errors();
  }
  return sums;
}

TEST_F(LineSummary, CountsAShortLogLineByLine) {
  WriteMany(1000, 300);
  ForgetCounts("1");  // it does not need them
  const LogSummary summary = SummarizeLines(*chunks_, 1, 10).value();
  EXPECT_EQ(summary.total(), 1000);
  EXPECT_FALSE(summary.partial());
  ASSERT_EQ(summary.buckets_size(), 10);
  EXPECT_EQ(summary.buckets(3).first(), 300);
  EXPECT_EQ(summary.buckets(3).lines(), 100);
  EXPECT_EQ(wire::FromProto(summary.buckets(3).time()).time_since_epoch().count(),
            static_cast<std::int64_t>(kStart) + 300'000);
  EXPECT_EQ(SumsOf(summary), (Sums{.lines = 1000, .warnings = 90, .errors = 10}));
  EXPECT_EQ(summary.first_error(), 99);
  EXPECT_THAT(summary.replicas(), ElementsAre("worker-replica-0", "worker-replica-1"));
  EXPECT_THAT(summary.trial_ids(), ElementsAre());
}

TEST_F(LineSummary, AddsUpTheChunksOfALongOne) {
  constexpr int kLines = static_cast<int>(kExactLinesMax) + 5'000;
  WriteMany(kLines, 5'000);
  LogSummary summary = SummarizeLines(*chunks_, 1, 10).value();
  EXPECT_EQ(SumsOf(summary),
            (Sums{.lines = kLines, .warnings = kLines / 10 - kLines / 100, .errors = kLines / 100}));
  EXPECT_THAT(summary.buckets_size(), testing::AllOf(testing::Ge(9), testing::Le(11)));
  EXPECT_EQ(summary.first_error(), 99);
  EXPECT_FALSE(summary.partial());
  ForgetCounts("job_line < 5000");
  summary = SummarizeLines(*chunks_, 1, 10).value();
  EXPECT_TRUE(summary.partial());
  EXPECT_EQ(summary.first_error(), 5099);
}

TEST_F(LineSummary, StderrAloneIsNoError) {
  using logging::v2::LogEntry;
  Write("master-replica-0", kStart,
        {{.text = "1/100 [....]", .severity = LogEntry::ERROR, .severity_of_stream = true},
         {.text = "said to be one", .severity = LogEntry::ERROR},
         {.text = "2/100 [....]", .severity = LogEntry::ERROR, .severity_of_stream = true}});
  const LogSummary summary = SummarizeLines(*chunks_, 1, 10).value();
  EXPECT_EQ(SumsOf(summary), (Sums{.lines = 3, .warnings = 0, .errors = 1}));
  EXPECT_EQ(summary.first_error(), 1);
  EXPECT_EQ(chunks_->At(1, static_cast<std::int64_t>(kStart)).value()->counts,
            (SeverityCounts{.errors = 3, .named_errors = 1}));
}

TEST_F(LineSummary, OfNoLinesHasNoParts) {
  const LogSummary summary = SummarizeLines(*chunks_, 1, 10).value();
  EXPECT_EQ(summary.total(), 0);
  EXPECT_EQ(summary.buckets_size(), 0);
  EXPECT_EQ(summary.first_error(), -1);
}

}  // namespace
}  // namespace trainyard::logs
