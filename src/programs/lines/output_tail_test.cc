#include "programs/lines/output_tail.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::replica {
namespace {

using diagnosis::OutputLine;

TEST(OutputTail, KeepsTheLastLines) {
  OutputTail tail;
  EXPECT_TRUE(tail.Lines().empty());
  for (int i = 0; i < 100; ++i) tail.Add("line " + std::to_string(i), i % 2 == 0);
  const auto lines = tail.Lines();
  ASSERT_EQ(lines.size(), OutputTail::kLinesMax);
  EXPECT_EQ(lines.front(), (OutputLine{"line 36", true}));
  EXPECT_EQ(lines.back(), (OutputLine{"line 99", false}));
  tail.Clear();
  EXPECT_TRUE(tail.Lines().empty());
}

TEST(OutputTail, KeepsTheLastOfSeveralLinesAndWholeCharacters) {
  OutputTail tail;
  tail.Add("Traceback (most recent call last):\n  x\nValueError: no\n", true);
  tail.Add("", true);
  tail.Add(std::string(OutputTail::kLineBytesMax - 1, 'x') + "\xc3\xa9", false);
  const auto lines = tail.Lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], (OutputLine{"ValueError: no", true}));
  EXPECT_EQ(lines[1].text, std::string(OutputTail::kLineBytesMax - 1, 'x'));
}

}  // namespace
}  // namespace trainyard::replica
