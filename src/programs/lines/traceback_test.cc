#include "programs/lines/stderr_entries.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(CutTraceback, AnOriginalStackWithoutAMessageIsCut) {
  const std::string text = kHeader + "\nOriginal stack trace for 'x':\n" + std::string(3000, 'y');
  EXPECT_LE(CutTraceback(text).size(), text.size());
  EXPECT_TRUE(CutTraceback(text).starts_with(kHeader));
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

/// `traceback` raises each exception while the one before is handled.
std::string Chain(const std::vector<std::string>& exceptions, int frames) {
  std::string text;
  for (const std::string& exception : exceptions) {
    if (!text.empty()) text += "\n\nThe above exception was the direct cause of the following exception:\n\n";
    text += kHeader + Frames(1, frames) + exception;
  }
  return text;
}
bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(CutTraceback, OfAChainTheCauseAndTheLastExceptionStay) {
  const std::string cut =
      CutTraceback(Chain({"KeyError: 'first'", "OSError: between", "RuntimeError: last"}, 60));
  EXPECT_LE(cut.size(), kTracebackBytesMax);
  EXPECT_GT(cut.size(), kTracebackBytesMax - 140);
  EXPECT_TRUE(Has(cut, "\n    go(deeper)\nKeyError: 'first'\n\nThe above exception was the direct cause"));
  EXPECT_TRUE(Has(cut, "line 1060, in step\n    go(deeper)\nRuntimeError: last")) << cut;
  EXPECT_TRUE(Has(cut, kHeader + "  [...]\nOSError: between\n"));
}

TEST(CutTraceback, OfAChainBothMessagesStayEvenIfTheyAreHuge) {
  const std::string cut =
      CutTraceback(Chain({"KeyError: " + std::string(9000, 'a'), "E: " + std::string(9000, 'b'),
                          "RuntimeError: " + std::string(9000, 'c')},
                         60));
  EXPECT_EQ(cut.size(), kTracebackBytesMax);
  EXPECT_TRUE(Has(cut, "\nKeyError: aaa"));
  EXPECT_FALSE(Has(cut, "\nE: b"));
  EXPECT_TRUE(Has(cut, "\nRuntimeError: ccc"));
}

TEST(CutTraceback, LongChainsLoseWhatIsBetween) {
  std::vector<std::string> exceptions = {"KeyError: 'first'"};
  for (int i = 0; i < 40; ++i) exceptions.push_back("OSError: between " + std::string(60, 'x'));
  exceptions.emplace_back("RuntimeError: last");
  const std::string cut = CutTraceback(Chain(exceptions, 3));
  EXPECT_LE(cut.size(), kTracebackBytesMax);
  EXPECT_TRUE(Has(cut, "KeyError: 'first'\n  [...]\n\nThe above exception"));
  EXPECT_FALSE(Has(cut, "OSError"));
  EXPECT_TRUE(cut.ends_with("RuntimeError: last"));
}

/// TensorFlow 1.15's own text.
TEST(CutTraceback, TensorFlowsOriginalStackGoesFirst) {
  const std::string said =
      "tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: [2] vs. [3]\n"
      "\t [[node add (defined at /usr/lib/python3.7/tensorflow_core/ops.py:1748) ]]";
  const std::string cut = CutTraceback(Chain({"InvalidArgumentError: Incompatible shapes: [2] vs. [3]",
                                              said + "\n\nOriginal stack trace for 'add':\n" + Frames(1, 60)},
                                             30));
  EXPECT_LE(cut.size(), kTracebackBytesMax);
  EXPECT_TRUE(cut.ends_with("go(deeper)\n" + said + "\n  [...]")) << cut;
}

TEST(CutTraceback, WhatIsNoTracebackIsCutAtItsEnd) {
  EXPECT_EQ(CutTraceback(std::string(5000, 'x'), 10), "xxxxxxxxxx");
}

const std::string kNode = "Detected at node a/b defined at (most recent call last):\n";

/// TensorFlow 2.15's own text.
TEST(CutTraceback, TheStackOfAGraphGoesFirstAndTheReasonStays) {
  const std::string error =
      "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\n";
  const std::string reason =
      "indices[0,0] = 12 is not in [0, 10)\n\t [[{{node a/b}}]] [Op:__inference_train_function_474]";
  std::string stack = kNode;
  for (int i = 0; i < 40; ++i)
    stack += "  File \"/usr/lib/keras/src/engine/training.py\", line 1807, in fit\n\n";
  const std::string cut = CutTraceback(kHeader + Frames(1, 30) + error + stack + reason);
  EXPECT_LE(cut.size(), kTracebackBytesMax);
  EXPECT_TRUE(cut.ends_with("go(deeper)\n" + error + kNode + "  [...]\n" + reason)) << cut;
}

TEST(CutTraceback, OfAWorkersExceptionTheFramesStay) {
  const std::string passed_on = "KeyError: Caught KeyError in DataLoader worker process 0.\n";
  const std::string worker = "Original Traceback (most recent call last):\n";
  const std::string cut =
      CutTraceback(kHeader + Frames(1, 60) + passed_on + worker + Frames(101, 160) + "KeyError: 'image'\n\n");
  EXPECT_LE(cut.size(), kTracebackBytesMax);
  EXPECT_TRUE(cut.starts_with(kHeader + "  [...]\n"));
  EXPECT_TRUE(Has(cut, "line 1060, in step\n    go(deeper)\n" + passed_on + worker + "  [...]\n")) << cut;
  EXPECT_TRUE(cut.ends_with("line 1160, in step\n    go(deeper)\nKeyError: 'image'")) << cut;
}

}  // namespace
}  // namespace trainyard::replica
