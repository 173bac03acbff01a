#include "rules/service/sweep_report.h"

#include <gtest/gtest.h>

namespace trainyard::service {
namespace {

TEST(SweepText, SaysWhatWentAndHowMuch) {
  EXPECT_EQ(SweepText({}, {}), "");
  EXPECT_EQ(SweepText({.jobs = 1, .job_log_bytes = 900}, {}),
            "removed 1 job that ended more than 90 days ago (900 bytes of logs)");
  EXPECT_EQ(SweepText({.logs = 2,
                       .log_bytes = 2'048,
                       .attempts = 1,
                       .builds = 1,
                       .build_bytes = 10,
                       .environments = 3,
                       .environment_bytes = std::int64_t{3} << 30},
                      {}),
            "removed 2 logs whose jobs wrote last more than 30 days ago (2.0 KiB), what 1 attempt left, 1 "
            "unfinished build (10 bytes), 3 environments (3.0 GiB)");
  EXPECT_EQ(SweepText({.jobs = 3}, {.jobs = std::nullopt}), "removed 3 jobs (0 bytes of logs)");
}

TEST(DoubtText, SaysWhatIsHeldBackAndWhatToDo) {
  EXPECT_EQ(
      DoubtText({.ahead = std::chrono::days(100),
                 .data_dir = "/d",
                 .jobs = {.going = 3, .all = 4},
                 .logs = {.going = 1, .all = 1}}),
      "by the machine's clock, which went forward by 100 days, 3 of 4 jobs, 1 of 1 log and 0 of 0 "
      "environments would be too old to keep. Nothing is removed by that time. If the clock is wrong, set it "
      "right; if it is right, say so: trainyard admin retention --confirm --data /d");
}

}  // namespace
}  // namespace trainyard::service
