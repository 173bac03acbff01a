#include "engine/local/attempt_accounts.h"

#include <gmock/gmock.h>

namespace trainyard::engine {
namespace {

using testing::HasSubstr;

TEST(JobUsers, AreReadFromARange) {
  EXPECT_EQ(ParseJobUsers("1900000000-1999999999").value(), (JobUsers{1'900'000'000, 100'000'000}));
  EXPECT_EQ(ParseJobUsers("65536-16842751").value(), (JobUsers{65'536, 16'777'216}));
  EXPECT_EQ(ParseJobUsers("65536-4294967294").value(), (JobUsers{65'536, 4'294'901'759}));
}

TEST(JobUsers, OtherTextsAreRefusedWithTheReason) {
  struct Row {
    const char* text;
    const char* reason;
  };
  constexpr Row kRows[] = {{"", "is not FIRST-LAST"},
                           {"1900000000", "is not FIRST-LAST"},
                           {"1900000000:65536", "is not FIRST-LAST"},
                           {"-1900000000", "is not FIRST-LAST"},
                           {"1900000000-", "is not FIRST-LAST"},
                           {"1900000000--1999999999", "is not FIRST-LAST"},
                           {"1900000000-1999999999 ", "is not FIRST-LAST"},
                           {"0x10000-0x2000000", "is not FIRST-LAST"},
                           {"1900000000-99999999999999999999", "is not FIRST-LAST"},
                           {"0-1999999999", "below 65536"},
                           {"65535-1999999999", "below 65536"},
                           {"1900000000-4294967295", "above 4294967294"},
                           {"1999999999-1900000000", "too small"},
                           {"65536-16842750", "too small"}};
  for (const Row& row : kRows) {
    const Result<JobUsers> read = ParseJobUsers(row.text);
    ASSERT_FALSE(read) << row.text;
    EXPECT_THAT(read.error().message, HasSubstr(row.reason));
  }
}

TEST(JobUsers, EachJobHasABlockOfItsOwnUntilAllAreUsed) {
  const JobUsers users{1'000'000, 256 * 65'536 + 100};  // the rest is no block
  EXPECT_EQ(BlockOf(users, 0).first(), 1'000'000U);
  EXPECT_EQ(BlockOf(users, 1).first(), 1'065'536U);
  EXPECT_EQ(BlockOf(users, 1).count(), 65'536U);
  EXPECT_EQ(BlockOf(users, 255).first(), 1'000'000U + 255 * 65'536);
  EXPECT_EQ(BlockOf(users, 256).first(), 1'000'000U);
  EXPECT_EQ(BlockOf(users, 1LL << 40).first(), 1'000'000U);
}

TEST(JobUsers, NoBlockReachesBeyondTheRange) {
  const JobUsers all = ParseJobUsers("65536-4294967294").value();
  for (const std::int64_t job : {0, 1, 65'533, 65'534, 65'535, 1'000'003}) {
    const replica::v1::IdBlock block = BlockOf(all, job);
    EXPECT_GE(block.first(), all.first);
    EXPECT_LE(std::uint64_t{block.first()} + block.count(), std::uint64_t{all.first} + all.count);
  }
}

}  // namespace
}  // namespace trainyard::engine
