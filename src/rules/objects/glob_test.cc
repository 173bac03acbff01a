#include "rules/objects/glob.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

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

/// A reference that tries everything, for short names.
bool MatchesSlowly(std::string_view glob, std::string_view name, bool segment_begins = true) {
  if (glob.empty()) return name.empty();
  const std::size_t stars = std::min(glob.find_first_not_of('*'), glob.size());
  if (stars >= 2 && segment_begins && glob.substr(stars).starts_with('/') &&
      MatchesSlowly(glob.substr(stars + 1), name))
    return true;
  if (glob.starts_with("*")) {
    const bool any = glob.starts_with("**");
    const std::string_view rest = glob.substr(any ? stars : 1);
    for (std::size_t i = 0; i <= name.size(); ++i) {
      if (MatchesSlowly(rest, name.substr(i), false)) return true;
      if (i < name.size() && name[i] == '/' && !any) break;
    }
    return false;
  }
  if (name.empty() || (glob[0] == '?' ? name[0] == '/' : glob[0] != name[0])) return false;
  return MatchesSlowly(glob.substr(1), name.substr(1), glob[0] == '/');
}

TEST(Glob, AgreesWithTryingEverything) {
  std::mt19937 random(7);
  const std::string parts[] = {"a", "b", "/", "*", "**", "**/", "?"};
  const std::string letters = "ab/";
  for (int round = 0; round < 20'000; ++round) {
    std::string glob;
    for (auto n = random() % 7; n > 0; --n) glob += parts[random() % std::size(parts)];
    std::string name;
    for (auto n = random() % 7; n > 0; --n) name += letters[random() % letters.size()];
    const auto parsed = Glob::Parse(glob);
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->Matches(name), MatchesSlowly(glob, name)) << glob << " " << name;
  }
}

TEST(Glob, StatesBeyondOneWord) {
  const std::string head(200, 'x');
  const auto glob = Glob::Parse("{" + head + "*y,**/" + head + "}");
  ASSERT_TRUE(glob);
  EXPECT_TRUE(glob->Matches(head + "zzy"));
  EXPECT_TRUE(glob->Matches("a/b/" + head));
  EXPECT_TRUE(glob->Matches(head));
  EXPECT_FALSE(glob->Matches(head + "z"));
}

/// A pattern that used to take a second for one name: every state is alive, and stars are next to skips.
TEST(Glob, TakesTimeLinearInTheName) {
  const std::string name = std::string(1023, 'a') + "b";
  for (const std::string part : {"*a", "**a", "**/", "?*", "**/*a"}) {
    std::string text;
    while (text.size() + part.size() <= Glob::kBytesMax - 1) text += part;
    const auto glob = Glob::Parse(text + "c");
    ASSERT_TRUE(glob);
    EXPECT_LE(glob->WorkOf(name), name.size() * (Glob::kStatesMax / 64));
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(glob->Matches(name));
  }
}

TEST(Glob, RefusesMoreStatesThanItsLimit) {
  std::string text = "{";
  for (int i = 0; i < 16; ++i) text += std::string(50, '?') + ",";
  EXPECT_TRUE(Glob::Parse(text + "x}"));
  const auto refused = Glob::Parse(text + "x}" + std::string(150, 'y'));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("more than 2048 characters together"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::storage
