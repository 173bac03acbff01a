#include "control/upkeep/disk_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace trainyard::control {
namespace {

struct Row {
  const char* name;
  DiskTrouble trouble;
  const char* advice;
};

class DiskAdvice : public testing::TestWithParam<Row> {};

TEST_P(DiskAdvice, FollowsTheReason) {
  const Error told = WithDiskAdvice(Internal("open /d/run/lock: failed"), GetParam().trouble, "/d");
  EXPECT_EQ(told.code, Code::kInternal);
  EXPECT_THAT(told.message, testing::StartsWith("open /d/run/lock: failed"));
  EXPECT_THAT(told.message, testing::HasSubstr(GetParam().advice));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, DiskAdvice,
    testing::Values(Row{"dead", {.answers = false, .is_full = true}, "repair or replace"},
                    Row{"read_only", {.is_read_only = true, .is_full = true}, "mount it for writing"},
                    Row{"full", {.is_full = true}, "make some megabytes free"}),
    [](const auto& row) { return row.param.name; });

TEST(DiskAdviceOf, SaysNothingOfAHealthyDisk) {
  EXPECT_EQ(WithDiskAdvice(Internal("x"), {}, "/d"), Internal("x"));
  EXPECT_TRUE(LookForDiskTrouble(testing::TempDir()).answers);
  EXPECT_FALSE(LookForDiskTrouble(testing::TempDir()).is_read_only);
}

}  // namespace
}  // namespace trainyard::control
