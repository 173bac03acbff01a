#include "rules/jobs/silence.h"

#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

using namespace std::chrono_literals;

TEST(SilenceRemark, BeginsAfterHalfAnHour) {
  EXPECT_EQ(SilenceRemark(29min + 59s, 1), "");
  EXPECT_EQ(SilenceRemark(30min, 1), "No output for 30 minutes; it uses 100 % of its CPUs.");
  EXPECT_EQ(SilenceRemark(2h + 59min, 0.004), "No output for 179 minutes; it uses 0 % of its CPUs.");
  EXPECT_EQ(SilenceRemark(26h, -1), "No output for 26 hours.");
}

}  // namespace
}  // namespace trainyard::jobs
