#include "cli/run/follow_job.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

TEST(WithoutTracebacks, KeepsTheSentencesAndTheDiagnoses) {
  const std::string sentence = "The replica master 0 exited with a non-zero status of 1. ";
  const std::string diagnosis =
      "\n\nDiagnosis: uncaught_exception. The program raised an exception: ValueError: no.\n";
  const std::string traceback =
      "\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n\nDuring handling of "
      "the "
      "above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", "
      "line "
      "2\nValueError: no";
  EXPECT_EQ(WithoutTracebacks(sentence + traceback + diagnosis + sentence + traceback + diagnosis),
            sentence + diagnosis + sentence + diagnosis);
  EXPECT_EQ(WithoutTracebacks(sentence + traceback), sentence + traceback) << "nothing else would say why";
  EXPECT_EQ(WithoutTracebacks(sentence + "\npip: no" + diagnosis), sentence + "\npip: no" + diagnosis);
  EXPECT_EQ(WithoutTracebacks(""), "");
}

}  // namespace
}  // namespace trainyard::cli
