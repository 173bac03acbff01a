#include "lines/traceback.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

std::string Frames(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) {
    text += "  File \"/a/trainer/task.py\", line " + std::to_string(1000 + i) + ", in step\n    go(deeper)\n";
  }
  return text;
}
const std::string kHeader = "Traceback (most recent call last):\n";

TEST(CutTraceback, ShortOnesStay) {
  EXPECT_EQ(CutTraceback(kHeader + Frames(1, 2) + "ValueError: no\n"),
            kHeader + Frames(1, 2) + "ValueError: no");
}

TEST(CutTraceback, DropsOldestFramesWhole) {
  const std::string cut = CutTraceback(kHeader + Frames(1, 100) + "ValueError: no");
  EXPECT_LE(cut.size(), kTracebackBytesMax);
  EXPECT_GT(cut.size(), kTracebackBytesMax - 70);  // one more frame would not fit
  const int kept = static_cast<int>((cut.size() - kHeader.size() - 8 - 14) / (Frames(1, 1).size()));
  EXPECT_EQ(cut, kHeader + "  [...]\n" + Frames(101 - kept, 100) + "ValueError: no");
}

TEST(CutTraceback, DropsMarkersWithTheirFrame) {
  const std::string frame = "  File \"a.py\", line 1, in f\n    boom()\n    ^^^^^^\n";
  EXPECT_EQ(CutTraceback(kHeader + frame + frame + "E: x", kHeader.size() + 8 + frame.size() + 4),
            kHeader + "  [...]\n" + frame + "E: x");
}

TEST(CutTraceback, HugeMessageIsCutAtItsEnd) {
  const std::string cut = CutTraceback(kHeader + Frames(1, 1) + "ValueError: " + std::string(5000, 'x'));
  EXPECT_EQ(cut.size(), kTracebackBytesMax);
  EXPECT_TRUE(cut.starts_with(kHeader + "  [...]\nValueError: xxx"));
}

struct Row {
  const char* name;
  std::vector<std::string> lines;
  const char* expected;
};
class TracebackFinderTest : public testing::TestWithParam<Row> {};
TEST_P(TracebackFinderTest, Last) {
  TracebackFinder finder;
  for (const std::string& line : GetParam().lines) finder.StderrLine(line);
  EXPECT_EQ(finder.Last(), GetParam().expected);
}
const char* const kHead = "Traceback (most recent call last):";
INSTANTIATE_TEST_SUITE_P(
    Rules, TracebackFinderTest,
    testing::Values(Row{"none", {"a", "b"}, ""},
                    Row{"one",
                        {"a", kHead, "  File \"x\", line 1", "    y()", "E: z", "after"},
                        "Traceback (most recent call last):\n  File \"x\", line 1\n    y()\nE: z"},
                    Row{"last_of_two",
                        {kHead, "  File \"x\", line 1", "E: z", "", "During handling of the above", "", kHead,
                         "  File \"y\", line 2", "F: w"},
                        "Traceback (most recent call last):\n  File \"y\", line 2\nF: w"},
                    Row{"cut_off",
                        {kHead, "  File \"x\", line 1"},
                        "Traceback (most recent call last):\n  File \"x\", line 1"}),
    [](const auto& row) { return row.param.name; });

TEST(TracebackFinder, StructuredEntryCounts) {
  TracebackFinder finder;
  finder.Entry("epoch 1");
  EXPECT_EQ(finder.Last(), "");
  finder.Entry(kHeader + "  File \"x\", line 1\nE: z\n");
  EXPECT_EQ(finder.Last(), kHeader + "  File \"x\", line 1\nE: z");
}

}  // namespace
}  // namespace trainyard::replica
