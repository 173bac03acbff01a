#include "storage/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::storage {
namespace {

struct Row {
  const char* name;
  const char* glob;
  const char* object;
  bool matches;
};
class Globs : public testing::TestWithParam<Row> {};
TEST_P(Globs, Match) {
  const auto glob = Glob::Parse(GetParam().glob);
  ASSERT_TRUE(glob) << glob.error().message;
  EXPECT_EQ(glob->Matches(GetParam().object), GetParam().matches);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, Globs,
    testing::Values(Row{"plain", "a/b", "a/b", true}, Row{"longer", "a/b", "a/bc", false},
                    Row{"star", "a/*.csv", "a/x.csv", true}, Row{"star_empty", "a/*", "a/", true},
                    Row{"star_slash", "a/*", "a/b/c", false}, Row{"two_stars", "a/**", "a/b/c", true},
                    Row{"two_stars_none", "a/**/c", "a/c", true},
                    Row{"two_stars_deep", "a/**/c", "a/b/d/c", true},
                    Row{"two_stars_half", "a/**/c", "a/bc", false}, Row{"at_start", "**/c", "c", true},
                    Row{"inside_word", "a**c", "a/b/c", true}, Row{"question", "a?c", "abc", true},
                    Row{"question_slash", "a?c", "a/c", false}, Row{"question_umlaut", "a?c", "aüc", true},
                    Row{"set", "a[bc]", "ac", true}, Row{"set_not", "a[!bc]", "ac", false},
                    Row{"range", "a[0-9]", "a5", true}, Row{"range_not", "a[^0-9]", "a5", false},
                    Row{"bracket_in_set", "a[]]", "a]", true}, Row{"braces", "*.{csv,txt}", "x.txt", true},
                    Row{"braces_other", "*.{csv,txt}", "x.json", false},
                    Row{"braces_star", "{a*,b}/c", "ax/c", true}, Row{"protected_star", "a\\*", "a*", true},
                    Row{"protected_star_only", "a\\*", "ab", false},
                    Row{"backtracking", "*a*b*c", "xaybzbc", true}, Row{"empty_name_part", "**", "", true}),
    [](const auto& row) { return row.param.name; });

TEST(Glob, RefusesWhatIsOpen) {
  for (const char* text : {"a[b", "a{b", "a{b{c}}", "a\\", "[!"}) EXPECT_FALSE(Glob::Parse(text)) << text;
  EXPECT_FALSE(Glob::Parse("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"));
  EXPECT_FALSE(Glob::Parse(std::string(Glob::kBytesMax + 1, 'a')));
}

TEST(Glob, HasALiteralHead) {
  EXPECT_EQ(Glob::Parse("a/b*c")->literal_head(), "a/b");
  EXPECT_EQ(Glob::Parse("{a,b}")->literal_head(), "");
}

TEST(Glob, NeverTakesExponentialTime) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "*a";
  EXPECT_FALSE(Glob::Parse(text)->Matches(std::string(1000, 'a') + "b"));
}

}  // namespace
}  // namespace trainyard::storage
