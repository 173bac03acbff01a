#include "programs/lines/redraws.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace trainyard::replica {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kMillisecond = 1'000'000;

class RedrawsTest : public testing::Test {
 protected:
  /// "line", "~state" for a redraw, "+rest" for a continuation.
  const Redraws::Sink sink_ = [this](std::string_view text, Redraws::Kind kind) {
    const char* mark = kind == Redraws::Kind::kRedraw ? "~" : kind == Redraws::Kind::kContinued ? "+" : "";
    seen_.push_back(mark + std::string(text));
  };
  void Feed(std::string_view bytes, std::uint64_t after_ms = 0) {
    now_ns_ += after_ms * kMillisecond;
    redraws_.Feed(bytes, now_ns_, sink_);
  }
  void Tick(std::uint64_t after_ms) {
    now_ns_ += after_ms * kMillisecond;
    redraws_.Tick(now_ns_, sink_);
  }
  std::vector<std::string> Seen() { return std::exchange(seen_, {}); }

  Redraws redraws_;
  std::uint64_t now_ns_ = 100'000 * kMillisecond;
  std::vector<std::string> seen_;
};

TEST_F(RedrawsTest, LinesStayWhatTheyAre) {
  Feed("one\ntwo\r\n\nthr");
  Feed("ee\r");
  Feed("\nfour");
  redraws_.Finish(now_ns_, sink_);
  EXPECT_THAT(Seen(), ElementsAre("one", "two", "", "three", "four"));
  EXPECT_FALSE(redraws_.holds());
}

/// tqdm and most others: '\r', then the state.
TEST_F(RedrawsTest, ABarIsSeenOnceASecond) {
  for (int i = 0; i <= 40; ++i) Feed("\r" + std::to_string(i) + "%", 100);
  Feed("\nloss 0.5\n");
  EXPECT_THAT(Seen(), ElementsAre("~0%", "~10%", "~20%", "~30%", "~40%", "loss 0.5"));
}

/// The state, then '\r': its last state is kept even where the line's end is missing.
TEST_F(RedrawsTest, ABarThatEndsWithReturns) {
  for (const char* state : {"1/4\r", "2/4\r", "3/4\r", "4/4\r"}) Feed(state, 10);
  EXPECT_THAT(Seen(), ElementsAre("~1/4"));
  redraws_.Finish(now_ns_, sink_);
  EXPECT_THAT(Seen(), ElementsAre("~4/4"));
}

TEST_F(RedrawsTest, ABarThatPausesIsSeen) {
  Feed("\r1%");
  Feed("\r2%", 10);
  EXPECT_TRUE(redraws_.holds());
  Tick(500);
  EXPECT_THAT(Seen(), ElementsAre("~1%"));
  Tick(600);
  Tick(1000);
  EXPECT_THAT(Seen(), ElementsAre("~2%")) << "and once only";
  EXPECT_FALSE(redraws_.holds()) << "a bar that stands still costs nothing";
  Feed("\r3%\n", 10);
  EXPECT_THAT(Seen(), ElementsAre("~3%"));
}

/// tqdm.write clears the bar, prints a line, and draws the bar again.
TEST_F(RedrawsTest, ALineInPlaceOfTheBarIsALine) {
  Feed("\r1%|#   |");
  Feed("\r        \rloss 0.5\n\r2%|##  |", 10);
  Feed("\r        \rloss 0.4\n\r3%|### |", 1000);
  Feed("\n", 10);
  EXPECT_THAT(Seen(), ElementsAre("~1%|#   |", "loss 0.5", "~2%|##  |", "loss 0.4", "~3%|### |"));
}

/// Keras goes back by '\b' and '\r'; others only as far as the number.
TEST_F(RedrawsTest, GoingBackIsWritingOver) {
  Feed("1/9 [>  ]");
  Feed("\b\b\b\b\b\b\b\b\b\r2/9 [=> ]", 10);
  Feed("\n");
  EXPECT_THAT(Seen(), ElementsAre("~1/9 [>  ]", "~2/9 [=> ]"));
  Feed("read 7%", 2000);
  Feed("\b\b8%", 10);
  Feed("\b\b9\xc2\xb0", 10);
  Feed("\b\b!!\n", 10);
  EXPECT_THAT(Seen(), ElementsAre("~read 7%", "~read !!"));
  Feed("a\bb\n");
  EXPECT_THAT(Seen(), ElementsAre("a\bb")) << "one letter is no bar";
}

TEST_F(RedrawsTest, ALineWithoutAnEndComesAfterAWhile) {
  Feed("Downloading");
  Tick(1000);
  EXPECT_THAT(Seen(), ElementsAre());
  Tick(1000);
  EXPECT_THAT(Seen(), ElementsAre("Downloading"));
  EXPECT_FALSE(redraws_.holds());
  Feed(" ... done\nnext\n", 100);
  EXPECT_THAT(Seen(), ElementsAre("+ ... done", "next"));
  Feed("again");
  Tick(2000);
  Feed("\nlast\n");
  EXPECT_THAT(Seen(), ElementsAre("again", "last")) << "the end alone is no line";
}

TEST_F(RedrawsTest, ATracebackBehindABarIsALine) {
  Feed("\r1%\r44%Traceback (most recent call last):\n  File \"a\"\n");
  EXPECT_THAT(Seen(), ElementsAre("~1%", "~44%", "Traceback (most recent call last):", "  File \"a\""));
}

TEST_F(RedrawsTest, PiecesOfALongLineAreContinuations) {
  Feed(std::string(kLineBytesMax, 'x') + "yy\nz\n");
  EXPECT_THAT(Seen(), ElementsAre(std::string(kLineBytesMax, 'x'), "+yy", "z"));
  const std::string object = "{" + std::string(kLineBytesMax, ' ') + "}";
  Feed(object + "\n");
  EXPECT_THAT(Seen(), ElementsAre(object)) << "a JSON object is not cut";
}

}  // namespace
}  // namespace trainyard::replica
