#include "control/curves/kept_jobs.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace trainyard::curves {
namespace {

/// Runs one request about trials 1 to `trials`; returns those that it reads.
std::set<std::int64_t> Read(ReportsKnown& known, std::int64_t trials,
                            const std::function<bool(std::int64_t)>& has_ended) {
  std::set<std::int64_t> read;
  ReportRound round(known);
  while (!round.IsFull() && round.after() < trials) {
    const std::int64_t trial = round.after() + 1;
    round.Take(trial, has_ended(trial));
    read.insert(trial);
  }
  known = round.Known(round.after() == trials);
  return read;
}

TEST(ReportRound, ReadsAllTrialsThoughTheFirstOneRunsOn) {
  ReportsKnown known;
  std::set<std::int64_t> seen;
  for (int question = 0; question < 3; ++question) {
    const auto read = Read(known, 2'500, [](std::int64_t trial) { return trial > 1; });
    EXPECT_LE(read.size(), kTrialsReadMax);
    seen.insert(read.begin(), read.end());
  }
  EXPECT_EQ(seen.size(), 2'500U);
  EXPECT_EQ(known, ReportsKnown{}) << "it begins again";
}

TEST(ReportRound, ReadsWhatHasEndedOnce) {
  ReportsKnown known;
  const auto ended = [](std::int64_t trial) { return trial <= 1'200; };
  EXPECT_EQ(Read(known, 1'300, ended).size(), 1'000U);
  EXPECT_EQ(known, (ReportsKnown{.until = 1'000, .next = 1'000}));
  EXPECT_EQ(Read(known, 1'300, ended).size(), 300U);
  EXPECT_EQ(known, (ReportsKnown{.until = 1'200}));
  EXPECT_EQ(Read(known, 1'300, ended).size(), 100U);
  EXPECT_EQ(Read(known, 1'300, [](std::int64_t) { return true; }).size(), 100U);
  EXPECT_EQ(known, (ReportsKnown{.until = 1'300}));
  EXPECT_TRUE(Read(known, 1'300, ended).empty());
}

TEST(ReportRound, LeavesNothingOutAfterALaterRound) {
  ReportsKnown known{.until = 10, .next = 1'500};
  EXPECT_EQ(Read(known, 1'600, [](std::int64_t) { return true; }).size(), 100U);
  EXPECT_EQ(known, (ReportsKnown{.until = 10})) << "those between were not all read to their end";
}

}  // namespace
}  // namespace trainyard::curves
