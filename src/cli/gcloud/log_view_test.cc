#include "cli/gcloud/log_view.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

constexpr std::size_t kColumns = 80;

TEST(LogView, AStateTakesThePlaceOfTheOneBefore) {
  LogView view;
  EXPECT_EQ(view.Show("DEFAULT\tt\tmaster\t\tone\nDEFAULT\tt\tmaster\t\t10%\x1d\n", kColumns),
            "DEFAULT\tt\tmaster\t\tone\nDEFAULT\tt\tmaster\t\t10%\n");
  EXPECT_EQ(view.Show("DEFAULT\tt\tmaster\t\t20%\x1d\n", kColumns),
            "\x1b[A\x1b[2K"
            "DEFAULT\tt\tmaster\t\t20%\n");
  EXPECT_EQ(view.Show("DEFAULT\tt\tworker\t\t5%\x1d\n", kColumns), "DEFAULT\tt\tworker\t\t5%\n")
      << "another replica's bar is another line";
  EXPECT_EQ(view.Show("DEFAULT\tt\tworker\t\tloss 1\nDEFAULT\tt\tworker\t\t6%\x1d\n", kColumns),
            "DEFAULT\tt\tworker\t\tloss 1\nDEFAULT\tt\tworker\t\t6%\n");
}

TEST(LogView, AStateIsNoLongerThanALineOfTheTerminal) {
  LogView view;
  EXPECT_EQ(view.Show("I\tt\tm\t\t\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\x1d\n", 34),
            "I\tt\tm\t\t\xe2\x96\x88\xe2\x96\x88\n");
}

TEST(LogView, NestedBarsMoveNoCursor) {
  LogView view;
  EXPECT_EQ(view.Show("I\tt\tm\t\t\x1b[A\x1b[2K\x1b[32minner\x1b[0m 3/9\x1b[?25h\n", kColumns),
            "I\tt\tm\t\tinner 3/9\n");
  EXPECT_EQ(WithoutControlSequences("a\x1b[1;\nb\x1b[\xc3\xa4\x1b]0;t\x07\x1b["),
            "a\x1b[1;\nb\x1b[\xc3\xa4\x1b]0;t\x07\x1b[")
      << "what is no whole sequence stays, and is shown";
}

TEST(LogView, APipeGetsTheLinesAlone) {
  EXPECT_EQ(WithoutRedrawMarks("a\nb\x1d\nc \x1d d\n"), "a\nb\nc \x1d d\n");
}

}  // namespace
}  // namespace trainyard::cli
