#include "stores/logs/line_matcher.h"

#include <gtest/gtest.h>

namespace trainyard::logs {
namespace {

struct Row {
  const char* name;
  std::string_view text;
  const char* shown;
};

class ColourCodes : public testing::TestWithParam<Row> {};

TEST_P(ColourCodes, AreTakenOut) {
  EXPECT_EQ(WithoutColourCodes(GetParam().text), GetParam().shown);
  const bool has_code = GetParam().text != GetParam().shown;
  EXPECT_TRUE(!has_code || FindColourCode(GetParam().text, 0).has_value());
}

INSTANTIATE_TEST_SUITE_P(Rules, ColourCodes,
                         testing::Values(Row{"none", "step 1", "step 1"}, Row{"empty", "", ""},
                                         Row{"around", "\x1b[32mstep\x1b[0m 140000", "step 140000"},
                                         Row{"within", "st\x1b[1;31mep\x1b[m", "step"},
                                         Row{"only", "\x1b[0m\x1b[0m", ""},
                                         Row{"colons", "\x1b[38:2::255:0:0mred", "red"},
                                         Row{"of_256", "\x1b[38;5;196mred\x1b[39m", "red"},
                                         Row{"not_a_colour", "a\x1b[2Kb", "a\x1b[2Kb"},
                                         Row{"after_another", "\x1b[2K\x1b[1mb", "\x1b[2Kb"},
                                         Row{"twice_begun", "\x1b[3\x1b[1mb", "\x1b[3b"},
                                         Row{"cut_off", "a\x1b[3", "a\x1b[3"},
                                         Row{"cut_short", "a\x1b[", "a\x1b["}, Row{"alone", "a\x1b", "a\x1b"},
                                         Row{"other", "a\x1b(B", "a\x1b(B"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ColourCode, IsFoundFromAPlaceOn) {
  const std::string_view text = "\x1b \x1b[1m \x1b[0m";
  EXPECT_EQ(FindColourCode(text, 0), 2U);
  EXPECT_EQ(FindColourCode(text, 3), 7U);
  EXPECT_EQ(FindColourCode(text, 8), std::nullopt);
}

}  // namespace
}  // namespace trainyard::logs
