#include "base/text/secret_mask.h"

#include <gtest/gtest.h>

#include <random>

namespace trainyard::text {
namespace {

struct Row {
  const char* name;
  std::vector<std::string> values;
  std::string text;
  std::string shown;
};
class MaskRules : public testing::TestWithParam<Row> {};

TEST_P(MaskRules, Hides) {
  EXPECT_EQ(SecretMask(GetParam().values).Apply(GetParam().text), GetParam().shown);
}

/// The output is the same for every way to cut the text.
TEST_P(MaskRules, HidesInPieces) {
  const auto& [name, values, text, shown] = GetParam();
  const SecretMask mask(values);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      MaskedStream stream;
      std::string all = stream.Feed(mask, text.substr(0, first));
      all += stream.Feed(mask, text.substr(first, second - first));
      all += stream.Feed(mask, text.substr(second));
      all += stream.Finish(mask);
      ASSERT_EQ(all, shown) << first << " " << second;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MaskRules,
    testing::Values(Row{"nothing", {}, "a secret", "a secret"},
                    Row{"one", {"hunter2"}, "is hunter2!", "is ***!"},
                    Row{"twice", {"hunter2"}, "hunter2,hunter2", "***,***"},
                    Row{"touching", {"hunter2"}, "hunter2hunter2.", "******."},
                    Row{"overlapping", {"abcdef", "defghi"}, "-abcdefghi-", "-***-"},
                    Row{"one_in_another", {"abcd", "abcdefgh"}, "abcdefgh abcd abcde", "*** *** ***e"},
                    Row{"itself_again", {"aaaa"}, "baaaaaaab", "b***b"},
                    Row{"only_its_beginning", {"hunter2"}, "hunter\nhunt", "hunter\nhunt"},
                    Row{"whole_text", {"hunter2"}, "hunter2", "***"},
                    Row{"by_line", {"first\r\n==\nsecond"}, "first second == firs", "*** *** == firs"},
                    Row{"too_short", {"abc"}, "abc", "abc"}),
    [](const auto& row) { return row.param.name; });

TEST(MaskedStream, KeepsNothingBackAfterALinesEnd) {
  MaskedStream stream;
  const SecretMask mask({"hunter2"});
  EXPECT_EQ(stream.Feed(mask, "hunt\n"), "hunt\n");
  EXPECT_EQ(stream.Feed(mask, "hun"), "");
  EXPECT_EQ(stream.Feed(mask, "ted\n"), "hunted\n");
}

/// A property: the output contains no value, and everything that is not part of a value.
TEST(MaskedStream, ShowsNoValueOfRandomText) {
  std::mt19937 random(7);
  const SecretMask mask({"abab", "babba", "aabbaabb"});
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "ab\n"[random() % (round % 3 == 0 ? 3 : 2)];
    MaskedStream stream;
    std::string all;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 9;
      all += stream.Feed(mask, std::string_view(text).substr(at, size));
      at += size;
    }
    all += stream.Finish(mask);
    ASSERT_EQ(all, mask.Apply(text)) << text;
    for (const char* value : {"abab", "babba", "aabbaabb"}) ASSERT_EQ(all.find(value), std::string::npos);
  }
}

}  // namespace
}  // namespace trainyard::text
