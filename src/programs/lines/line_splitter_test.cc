#include "programs/lines/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace trainyard::replica::line_splitter_test {
namespace {

using Lines = std::vector<std::string>;

Lines Split(const std::vector<std::string>& reads, std::size_t bytes_max) {
  LineSplitter splitter(bytes_max);
  Lines lines;
  auto sink = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& read : reads) splitter.Feed(read, sink);
  splitter.Finish(sink);
  return lines;
}

struct Row {
  const char* name;
  std::vector<std::string> reads;
  std::size_t bytes_max;
  Lines expected;
};

class Splits : public testing::TestWithParam<Row> {};
TEST_P(Splits, AsExpected) { EXPECT_EQ(Split(GetParam().reads, GetParam().bytes_max), GetParam().expected); }
INSTANTIATE_TEST_SUITE_P(
    Rules, Splits,
    testing::Values(
        Row{"nothing", {}, 8, {}}, Row{"two_lines", {"a\nb\n"}, 8, {"a", "b"}},
        Row{"over_reads", {"a", "b\nc", "\n"}, 8, {"ab", "c"}},
        Row{"last_without_newline", {"a\nb"}, 8, {"a", "b"}},
        Row{"empty_lines_are_lines", {"\n\na\n"}, 8, {"", "", "a"}},
        Row{"crlf", {"a\r\nb\r", "\nc\r"}, 8, {"a", "b", "c"}},
        Row{"return_inside_stays", {"1%\r2%\n"}, 8, {"1%\r2%"}},
        Row{"exactly_the_limit", {"12345678\n9\n"}, 8, {"12345678", "9"}},
        Row{"limit_with_return", {"12345678\r\n9\n"}, 8, {"12345678", "9"}},
        Row{"one_over", {"123456789\n"}, 8, {"12345678", "9"}},
        Row{"return_at_the_end", {"12345678\r"}, 8, {"12345678"}},
        Row{"over_the_limit", {"123456789abcdefghij\nz\n"}, 8, {"12345678", "9abcdefg", "hij", "z"}},
        Row{"over_the_limit_byte_by_byte", {"1", "2", "3", "4", "5", "6", "\n"}, 4, {"1234", "56"}},
        Row{"character_at_the_cut",
            {"1234567\u20ac9\n"},
            8,
            {"1234567",
             "\u20ac"
             "9"}},
        Row{"character_over_reads",
            {"1234567\xE2",
             "\x82\xAC"
             "9\n"},
            8,
            {"1234567",
             "\u20ac"
             "9"}},
        Row{"rubbish_over_the_limit",
            {std::string(20, '\x80')},
            8,
            {std::string(8, '\x80'), std::string(8, '\x80'), std::string(4, '\x80')}}),
    [](const auto& row) { return row.param.name; });

TEST(LineSplitter, AnyCutOfTheStreamGivesTheSameLines) {
  const std::string text = "first\n\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\r\n\nlonger than the limit\nend";
  const Lines whole = Split({text}, 7);
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      EXPECT_EQ(Split({text.substr(0, a), text.substr(a, b - a), text.substr(b)}, 7), whole) << a << ' ' << b;
    }
  }
}

}  // namespace
}  // namespace trainyard::replica::line_splitter_test
