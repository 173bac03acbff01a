#include "programs/lines/log_allowance.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

constexpr std::int64_t kLine = 100 + kLineOverheadBytes;

TEST(LogAllowanceTest, WithoutALimitKeepsEverything) {
  LogAllowance allowance;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(allowance.Keep(1 << 20));
  EXPECT_EQ(allowance.Note(1, true), std::nullopt);
  EXPECT_EQ(allowance.unreported(), LogAllowance::Dropped());
}

TEST(LogAllowanceTest, OnceOverTheLimitKeepsNothing) {
  LogAllowance allowance({.attempt_bytes = 2 * kLine, .job_bytes = 0});
  EXPECT_TRUE(allowance.Keep(100));
  EXPECT_TRUE(allowance.Keep(100));
  EXPECT_EQ(allowance.Note(1, false), std::nullopt);
  EXPECT_FALSE(allowance.Keep(100));
  EXPECT_FALSE(allowance.Keep(0)) << "no holes";
  EXPECT_EQ(
      allowance.Note(1, false),
      "From here on this replica's output is not kept: its limit is 2.4e-07 GB for a replica (trainyard "
      "serve --replica-logs-max-gb). The program goes on.");
  EXPECT_EQ(allowance.Note(2, false), std::nullopt);
  EXPECT_FALSE(allowance.Keep(50));
  EXPECT_EQ(allowance.Note(kDroppedNoteIntervalNs, false), std::nullopt);
  EXPECT_EQ(
      allowance.Note(kDroppedNoteIntervalNs + 1, false),
      "3 lines of this replica's output, 150 bytes, are not in this log so far: its limit is 2.4e-07 GB "
      "for a replica (trainyard serve --replica-logs-max-gb).");
  EXPECT_EQ(allowance.Note(kDroppedNoteIntervalNs + 2, true), std::nullopt) << "nothing new";
}

TEST(LogAllowanceTest, TheEndSaysHowMuch) {
  LogAllowance allowance({.attempt_bytes = 0, .job_bytes = 10'000'000'000});
  allowance.CloseForJob();
  EXPECT_EQ(allowance.Note(1, false), std::nullopt) << "nothing was dropped yet";
  EXPECT_FALSE(allowance.Keep(7));
  EXPECT_EQ(allowance.Note(1, false),
            "From here on this replica's output is not kept: the limit of this job's log is 10 GB (trainyard "
            "serve --job-logs-max-gb). The program goes on.");
  EXPECT_EQ(
      allowance.Note(2, true),
      "1 line of this replica's output, 7 bytes, is not in this log: the limit of this job's log is 10 GB "
      "(trainyard serve --job-logs-max-gb).");
  EXPECT_EQ(allowance.unreported(), (LogAllowance::Dropped{1, 7}));
  allowance.Forget();
  EXPECT_EQ(allowance.unreported(), LogAllowance::Dropped());
}

TEST(LogAllowanceTest, HoldsAndReleases) {
  LogAllowance allowance;
  for (std::int64_t round = 1; round <= 2; ++round) {
    EXPECT_TRUE(allowance.Keep(5));
    allowance.Hold();
    EXPECT_FALSE(allowance.Keep(5));
    EXPECT_EQ(allowance.Note(1, false),
              "From here on this replica's output is not kept until it can be stored again: it could not be "
              "stored. The program goes on.");
    EXPECT_FALSE(allowance.Keep(5));
    allowance.Release();
    EXPECT_EQ(allowance.Note(1, false), std::to_string(2 * round) + " lines of this replica's output, " +
                                            std::to_string(10 * round) +
                                            " bytes, are not in this log so far: it could not be stored.");
    EXPECT_EQ(allowance.Note(1, true), std::nullopt);
  }
}

}  // namespace
}  // namespace trainyard::replica
