#include "base/wire/utf8.h"

#include <gtest/gtest.h>

namespace trainyard::wire {
namespace {

struct Row {
  const char* name;
  std::string text;
  std::string expected;
};

class VisibleTextRows : public testing::TestWithParam<Row> {};
TEST_P(VisibleTextRows, AreShown) { EXPECT_EQ(VisibleText(GetParam().text), GetParam().expected); }
INSTANTIATE_TEST_SUITE_P(
    Rules, VisibleTextRows,
    testing::Values(
        Row{"empty", "", ""}, Row{"plain", "loss 0.5\tepoch 3\n", "loss 0.5\tepoch 3\n"},
        Row{"letters", "Z\u00fcrich \u20ac \U0001F600", "Z\u00fcrich \u20ac \U0001F600"},
        Row{"colour", "\x1b[31mred\x1b[0m", R"(\033[31mred\033[0m)"},
        Row{"title", "\x1b]0;owned\a", R"(\033]0;owned\a)"}, Row{"back", "ab\b\bcd", R"(ab\b\bcd)"},
        Row{"over_the_line", "INFO\rERROR", R"(INFO\rERROR)"}, Row{"windows_line", "a\r\nb\r", "a\r\nb\\r"},
        Row{"nul_and_del", std::string("a\0b\x7f", 4), R"(a\000b\177)"},
        Row{"c1",
            "\xC2\x9B"
            "31m\xC2\x80\xC2\x9F\xC2\xA0",
            "\\302\\23331m\\302\\200\\302\\237\xC2\xA0"},
        Row{"bidi", "a\u202Eb\u202C\u2066c\u2069", R"(a\342\200\256b\342\200\254\342\201\246c\342\201\251)"},
        Row{"next_to_bidi", "\u2029\u202F\u2065\u206A", "\u2029\u202F\u2065\u206A"},
        Row{"no_utf8", "\x80\xC0\xAF\xED\xA0\x80\xFF", R"(\200\300\257\355\240\200\377)"},
        Row{"cut", "ab\xE2\x82", R"(ab\342\202)"}, Row{"backslash", R"(C:\new \033)", R"(C:\new \033)"}),
    [](const auto& row) { return row.param.name; });

/// The result is the same for every way to cut the pieces.
TEST(VisibleStreamTest, IsTheSameAsTheWhole) {
  const std::string text = "a\r\n\u20ac\x1b[0m\u202E\U0001F600\xE2\x82\xC2\x9B\rz\xF0\x9F";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    VisibleStream stream;
    std::string shown;
    for (std::size_t at = 0; at < text.size(); at += size) shown += stream.Next(text.substr(at, size));
    shown += stream.Finish();
    EXPECT_EQ(shown, VisibleText(text)) << size;
  }
}

}  // namespace
}  // namespace trainyard::wire
