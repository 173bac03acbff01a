#include "replica/utf8.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

struct Row {
  const char* name;
  std::string text;
  std::string expected;
};

class ReplaceInvalid : public testing::TestWithParam<Row> {};
TEST_P(ReplaceInvalid, Replaces) { EXPECT_EQ(ReplaceInvalidUtf8(GetParam().text), GetParam().expected); }
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
}  // namespace trainyard::replica
