#include "base/wire/utf8.h"

#include <gtest/gtest.h>

namespace trainyard::wire {
namespace {

struct Row {
  const char* name;
  std::string text;
  std::string expected;
};

class ReplaceInvalid : public testing::TestWithParam<Row> {};
TEST_P(ReplaceInvalid, Replaces) { EXPECT_EQ(ReplaceMalformed(GetParam().text), GetParam().expected); }
INSTANTIATE_TEST_SUITE_P(Rules, ReplaceInvalid,
                         testing::Values(Row{"empty", "", ""},
                                         Row{"ascii", "plain text, long enough", "plain text, long enough"},
                                         Row{"valid", "\u00e4\u20ac\U0001F600", "\u00e4\u20ac\U0001F600"},
                                         Row{"stray_continuation", "a\x80z", "a\uFFFDz"},
                                         Row{"overlong", "\xC0\xAF", "\uFFFD\uFFFD"},
                                         Row{"surrogate", "\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
                                         Row{"too_high", "\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
                                         Row{"cut_at_end", "ab\xE2\x82", "ab\uFFFD\uFFFD"},
                                         Row{"nul_stays", std::string("a\0b", 3), std::string("a\0b", 3)}),
                         [](const auto& row) { return row.param.name; });

TEST(IsUtf8, Table) {
  for (const char* good : {"", "a", "\u00e4", "\u20ac", "\U0001F600", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "a\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC3\x28"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
    EXPECT_TRUE(IsUtf8(ReplaceMalformed(bad))) << bad;
  }
}

TEST(Utf8Prefix, NeverCutsACharacter) {
  const std::string text = "ab\u20acd";  // 2 + 3 + 1 bytes
  EXPECT_EQ(Utf8Prefix(text, 6), 6U);
  EXPECT_EQ(Utf8Prefix(text, 5), 5U);
  EXPECT_EQ(Utf8Prefix(text, 4), 2U);
  EXPECT_EQ(Utf8Prefix(text, 3), 2U);
  EXPECT_EQ(Utf8Prefix(text, 2), 2U);
}

TEST(Utf8Prefix, CutsRubbishAnywhere) { EXPECT_EQ(Utf8Prefix(std::string(100, '\x80'), 50), 50U); }

}  // namespace
}  // namespace trainyard::wire
