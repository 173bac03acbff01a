#include "stores/logs/line_matcher.h"

#include <gtest/gtest.h>

#include "stores/logs/line_query.h"

namespace trainyard::logs::line_matcher_test {
namespace {

struct Row {
  const char* name;
  std::string query;
  LineMatcher::Options options;
  std::string text;
  bool matches;
};

class LineMatcherMatches : public testing::TestWithParam<Row> {};

TEST_P(LineMatcherMatches, AsAsked) {
  const Row& row = GetParam();
  const LineMatcher matcher = LineMatcher::Make(row.query, row.options).value();
  EXPECT_EQ(matcher.Matches(row.text), row.matches);
  EXPECT_EQ(matcher.HasQuickLook(), !row.options.regex);
  if (!matcher.HasQuickLook()) return;
  EXPECT_EQ(matcher.QuickLook("\xff\x09" + row.text + "\xff", 0).has_value(), row.matches);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LineMatcherMatches,
    testing::Values(Row{"plain", "loss", {}, "The LOSS is 1", true}, Row{"absent", "loss", {}, "los", false},
                    Row{"case", "loss", {.match_case = true}, "The LOSS is 1", false},
                    Row{"same_case", "LOSS", {.match_case = true}, "The LOSS is 1", true},
                    Row{"folded", "\u00fcber", {}, "\u00dcBER", true},
                    Row{"not_an_expression", "a.b", {}, "axb", false}, Row{"dot", "a.b", {}, "A.B", true},
                    Row{"regex", "lo+s", {.regex = true}, "looos", true},
                    Row{"regex_case", "lo+s", {.regex = true, .match_case = true}, "LOS", false},
                    Row{"anchors", "^a.*z$", {.regex = true}, "a to z", true},
                    Row{"not_anchored", "^b", {.regex = true}, "ab", false},
                    Row{"code_itself", "\x1b[1m", {}, "a\x1b[1mb", true},
                    Row{"code_by_expression", R"(\x1b\[1m)", {.regex = true}, "a\x1b[1mb", true},
                    Row{"code_by_octal", R"(\033\[1m)", {.regex = true}, "a\x1b[1mb", true}),
    [](const auto& row) { return std::string(row.param.name); });

struct ColouredRow {
  const char* query;
  LineMatcher::Options options;
  bool matches;
};

TEST(LineMatcher, LooksThroughColours) {
  const std::string line = "\x1b[32mstep\x1b[0m 140000\x1b[K";
  for (const ColouredRow& row :
       {ColouredRow{"step 140000", {}, true}, ColouredRow{"step 140000", {.match_case = true}, true},
        ColouredRow{"^step \\d+", {.regex = true}, true}, ColouredRow{"32", {}, false},
        ColouredRow{"0m", {.match_case = true}, false}, ColouredRow{"32m", {.regex = true}, false},
        ColouredRow{"\x1b[K", {}, true}}) {
    const LineMatcher matcher = LineMatcher::Make(row.query, row.options).value();
    EXPECT_EQ(matcher.Matches(line), row.matches) << row.query;
    EXPECT_EQ(matcher.LooksThroughColours(), !std::string(row.query).contains('\x1b'));
  }
}

TEST(LineMatcher, SaysWhatIsWrong) {
  const auto error = [](const std::string& text, bool regex) {
    return LineMatcher::Make(text, {.regex = regex}).error();
  };
  EXPECT_EQ(error("", false), InvalidArgument("query", "Must not be empty"));
  EXPECT_EQ(error("(", true), InvalidArgument("query", "missing ): ("));
  EXPECT_EQ(error("a{1001}", true), InvalidArgument("query", "invalid repetition size: {1001}"));
  EXPECT_EQ(error("\xff", false), InvalidArgument("query", "Must be UTF-8"));
  EXPECT_EQ(error(std::string(kSearchTextBytesMax + 1, 'a'), false),
            InvalidArgument("query", "Must not be longer than 2000 bytes"));
}

TEST(LineMatcher, RefusesLargeExpressions) {
  const auto make = [](std::string text, bool regex) { return LineMatcher::Make(text, {.regex = regex}); };
  EXPECT_EQ(make("[ab].{0,900}", true).error(),
            InvalidArgument("query",
                            "The expression compiles to 8105 instructions, and may have 4000: use fewer or "
                            "smaller repetitions ({0,900}) and classes (\\pL)"));
  EXPECT_TRUE(make("\\p{L}+ \\p{Lu}\\p{Ll}*", true).has_value());
  EXPECT_TRUE(make("[ab].{0,300}", true).has_value());
  EXPECT_TRUE(make(std::string(kSearchTextBytesMax, 'a'), false).has_value());
  EXPECT_FALSE(make(std::string(kSearchTextBytesMax, 'k'), false).has_value());
}

TEST(LineMatcher, LooksAtALongTextInPieces) {
  const LineMatcher matcher = LineMatcher::Make("(^|[0-9]).{1,300}x$", {.regex = true}).value();
  const std::size_t piece = kStepsAtOnce / matcher.StepsOf(1);
  int asked = 0;
  const auto is_never_over = [&asked] { return ++asked < 0; };
  const auto is_over = [] { return true; };
  std::string text(3 * piece, 'a');
  EXPECT_EQ(matcher.Look(text, is_never_over), LineMatcher::Answer::kNo);
  EXPECT_EQ(asked, 3) << "pieces overlap";
  text += "7abx";
  EXPECT_EQ(matcher.Look(text, is_never_over), LineMatcher::Answer::kYes);
  EXPECT_EQ(matcher.Look(text, is_over), LineMatcher::Answer::kOutOfTime);
  text.replace(piece - 2, 4, "7abx");
  EXPECT_EQ(matcher.Look(text.substr(0, piece + 2), is_never_over), LineMatcher::Answer::kYes) << "across";
  EXPECT_EQ(matcher.Look(text.substr(0, piece + 3), is_never_over), LineMatcher::Answer::kNo)
      << "not the end";
  EXPECT_EQ(matcher.Look("abx", is_over), LineMatcher::Answer::kYes);
}

TEST(LineMatcher, LooksQuicklyFromAPlaceOn) {
  for (const bool match_case : {false, true}) {
    const LineMatcher matcher = LineMatcher::Make("ab", {.match_case = match_case}).value();
    EXPECT_EQ(matcher.QuickLook("xabxab", 0), 1U);
    EXPECT_EQ(matcher.QuickLook("xabxab", 2), 4U);
    EXPECT_EQ(matcher.QuickLook("xabxab", 5), std::nullopt);
    EXPECT_EQ(matcher.QuickLook("", 0), std::nullopt);
  }
}

}  // namespace
}  // namespace trainyard::logs::line_matcher_test
