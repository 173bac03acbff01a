#include "programs/lines/task_lines.h"

#include <gtest/gtest.h>

namespace trainyard::replica::task_lines_test {
namespace {

TEST(TaskLines, AreWordedLikeTheOriginals) {
  EXPECT_EQ(RunningTaskLine("--cluster={} --task={} --job={}"),
            "Running task with arguments: --cluster={} --task={} --job={}");
  EXPECT_EQ(RunningModuleLine("trainer.task"), "Running module trainer.task.");
  EXPECT_EQ(RunningCommandLine({"python3", "-m", "trainer.task", "--job-dir", "gs://b/d"}),
            "Running command: python3 -m trainer.task --job-dir gs://b/d");
}

struct Row {
  const char* name;
  std::vector<std::string> command;
  int status;
  const char* expected;
};
class CommandFailed : public testing::TestWithParam<Row> {};
TEST_P(CommandFailed, Line) {
  EXPECT_EQ(CommandFailedLine(GetParam().command, GetParam().status), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, CommandFailed,
    testing::Values(Row{"status",
                        {"python3", "-m", "t"},
                        1,
                        "Command '['python3', '-m', 't']' returned non-zero exit status 1"},
                    Row{"signal", {"python3"}, -9, "Command '['python3']' returned non-zero exit status -9"},
                    Row{"quotes",
                        {"it's", "a\"b'c", "x\\y\n\x01"},
                        2,
                        R"(Command '["it's", 'a"b\'c', 'x\\y\n\x01']' returned non-zero exit status 2)"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::replica::task_lines_test
