#include "rules/diagnosis/classify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::diagnosis {
namespace {

using testing::ElementsAre;
using testing::Optional;

struct Row {
  const char* name;
  const char* pattern;
  const char* text;
  bool matches;
  std::vector<std::string> captures;
};
class Matches : public testing::TestWithParam<Row> {};

TEST_P(Matches, Anywhere) {
  const auto captures = Match(GetParam().pattern, GetParam().text);
  ASSERT_EQ(captures.has_value(), GetParam().matches);
  if (captures) {
    EXPECT_EQ(std::vector<std::string>(captures->begin(), captures->end()), GetParam().captures);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Matches,
    testing::Values(Row{"literal", "b c", "a b c d", true, {}}, Row{"absent", "x", "abc", false, {}},
                    Row{"between", "named '*'", "No module named 'yaml' (x)", true, {"yaml"}},
                    Row{"to_the_end", "error: *", "task.py: error: no such thing", true, {"no such thing"}},
                    Row{"two", "'*' from '*'", "name 'a' from 'b.c' (d)", true, {"a", "b.c"}},
                    Row{"from_the_start", "* does not", "./x does not y", true, {"./x"}},
                    Row{"no_closing", "named '*'", "named 'yaml", false, {}},
                    Row{"empty_capture", "a*b", "ab", true, {""}},
                    Row{"case_counts", "Error", "error", false, {}}, Row{"empty_text", "a*", "", false, {}}),
    [](const auto& row) { return row.param.name; });

TEST(Fill, TakesCapturesAndValues) {
  const std::vector<TemplateValue> values = {{"limit", "64 MiB"}};
  EXPECT_EQ(Fill("{1} of {limit}, {2}{nothing}{9}.", {"a.", "b"}, values), "a of 64 MiB, b.");
  EXPECT_EQ(Fill("open {1", {"a"}, {}), "open {1");
}

TEST(Fill, KeepsCapturesShortAndWhole) {
  const std::string long_text = std::string(199, 'x') + "\xc3\xa9\xc3\xa9";
  EXPECT_EQ(Fill("{1}", {long_text}, {}), std::string(199, 'x') + "...");
  EXPECT_EQ(Fill("{1}", {"one\ntwo"}, {}), "one");
  const std::string words = std::string(150, 'x') + " and " + std::string(100, 'y');
  EXPECT_EQ(Fill("It said: {1}.", {words}, {}), "It said: " + std::string(150, 'x') + " and...")
      << "cut between words, and no fourth dot";
  EXPECT_EQ(Fill("{1}. ({1})", {"loading the model and..."}, {}),
            "loading the model and... (loading the model and...)");
  EXPECT_EQ(Fill("{1}. {2}.", {"no!", "why?"}, {}), "no! why?");
}

}  // namespace
}  // namespace trainyard::diagnosis
