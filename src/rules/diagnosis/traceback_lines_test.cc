#include "rules/diagnosis/traceback_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::diagnosis {
namespace {

using Exceptions = std::vector<std::vector<std::string_view>>;

TEST(ExceptionsOf, AreNeitherFramesNorHeaders) {
  EXPECT_EQ(ExceptionsOf("Traceback (most recent call last):\n"
                         "  File \"a.py\", line 1, in f\n"
                         "    f()\n"
                         "KeyError: 'x'\n"
                         "\n"
                         "The above exception was the direct cause of the following exception:\n"
                         "\n"
                         "Traceback (most recent call last):\n"
                         "  File \"a.py\", line 2, in g\n"
                         "E: two\n"
                         "  (0) no\n"
                         "\n"
                         "Original stack trace for 'add':\n"
                         "  File \"a.py\", line 3, in h\n"
                         "\n"
                         "after"),
            (Exceptions{{"KeyError: 'x'"}, {"E: two", "  (0) no", "after"}}));
  EXPECT_EQ(ExceptionsOf("Traceback (most recent call last):\n  File \"a.py\", line 1"), Exceptions());
  EXPECT_EQ(ExceptionsOf(""), Exceptions());
}

TEST(ExceptionsOf, TheReasonOfAGraphsErrorIsBehindItsStacks) {
  EXPECT_EQ(
      ExceptionsOf("Traceback (most recent call last):\n"
                   "  File \"a.py\", line 1, in f\n"
                   "InvalidArgumentError: Graph execution error:\n"
                   "\n"
                   "Detected at node 'a' defined at (most recent call last):\n"
                   "    File \"a.py\", line 1, in <module>\n"
                   "      fit()\n"
                   "Node: 'a'\n"
                   "Detected at node b defined at (most recent call last):\n"
                   "<stack traces unavailable>\n"
                   "Detected at node c defined at (most recent call last):\n"
                   "  File \"a.py\", line 1, in <module>\n"
                   "\n"
                   "not in [0, 10)\n"
                   "\t [[{{node a}}]]"),
      (Exceptions{{"InvalidArgumentError: Graph execution error:", "not in [0, 10)", "\t [[{{node a}}]]"}}));
}

TEST(ExceptionsOf, TheOneOfAWorkerIsTheLast) {
  EXPECT_EQ(
      ExceptionsOf("Traceback (most recent call last):\n"
                   "  File \"a.py\", line 1, in f\n"
                   "KeyError: Caught KeyError in DataLoader worker process 0.\n"
                   "Original Traceback (most recent call last):\n"
                   "  File \"w.py\", line 1, in get\n"
                   "KeyError: 'image'\n"),
      (Exceptions{{"KeyError: Caught KeyError in DataLoader worker process 0."}, {"KeyError: 'image'"}}));
}

}  // namespace
}  // namespace trainyard::diagnosis
