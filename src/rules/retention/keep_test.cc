#include "rules/retention/keep.h"

#include <gtest/gtest.h>

namespace trainyard::retention {
namespace {

using std::chrono::seconds;

struct Row {
  const char* name;
  const char* text;
  std::optional<seconds> keep;
};

class ParseKeepGood : public testing::TestWithParam<Row> {};

TEST_P(ParseKeepGood, ReadsAndPrints) {
  const Result<Keep> keep = ParseKeep(GetParam().text);
  ASSERT_TRUE(keep) << keep.error().message;
  EXPECT_EQ(*keep, GetParam().keep);
  EXPECT_EQ(ParseKeep(KeepText(*keep)).value(), *keep);
}
INSTANTIATE_TEST_SUITE_P(Texts, ParseKeepGood,
                         testing::Values(Row{"never", "never", std::nullopt},
                                         Row{"days", "90d", std::chrono::days(90)},
                                         Row{"hours", "12h", std::chrono::hours(12)},
                                         Row{"minutes", "5m", std::chrono::minutes(5)},
                                         Row{"seconds", "2s", seconds(2)},
                                         Row{"longest", "36500d", std::chrono::days(36'500)}),
                         [](const auto& row) { return row.param.name; });

TEST(ParseKeep, RefusesTheRest) {
  for (const char* text : {"", "90", "d", "0d", "-1d", "36501d", "1.5h", "90 d", "90dd", "Never", "1w",
                           "99999999999999999999s", "9223372036854775807d"}) {
    const Result<Keep> keep = ParseKeep(text);
    ASSERT_FALSE(keep) << text;
    EXPECT_EQ(
        keep.error().message,
        "'" + std::string(text) + "' is no time to keep it, as 90d, 12h, 30m, 45s (1s to 36500d) or never");
  }
}

TEST(KeepText, UsesTheLargestExactUnit) {
  EXPECT_EQ(KeepText(std::chrono::hours(48)), "2d");
  EXPECT_EQ(KeepText(seconds(90)), "90s");
  EXPECT_EQ(AgeText(std::chrono::hours(24)), "1 day");
  EXPECT_EQ(AgeText(std::chrono::hours(25)), "25 hours");
}

TEST(Cutoff, IsNothingForWhatIsKeptForEver) {
  const SysTime now{seconds(1'000)};
  EXPECT_EQ(Cutoff(std::nullopt, now), std::nullopt);
  EXPECT_EQ(Cutoff(seconds(10), now), SysTime(seconds(990)));
}

}  // namespace
}  // namespace trainyard::retention
