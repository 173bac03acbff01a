#include "rules/container/program.h"

#include <gtest/gtest.h>

namespace trainyard::container {
namespace {

using Words = std::vector<std::string>;

struct Row {
  const char* name;
  Words entrypoint;
  Words cmd;
  Words command;
  Words args;
  Words service_args;
  Words expected;
};

class ProgramOfTest : public testing::TestWithParam<Row> {};

TEST_P(ProgramOfTest, Runs) {
  const Row& row = GetParam();
  replica::v1::Manifest::Container container;
  container.mutable_command()->Assign(row.command.begin(), row.command.end());
  container.mutable_args()->Assign(row.args.begin(), row.args.end());
  container.mutable_service_args()->Assign(row.service_args.begin(), row.service_args.end());
  EXPECT_EQ(ProgramOf({.entrypoint = row.entrypoint, .command = row.cmd}, container), row.expected);
}

const Words kEntry = {"/entry", "-e"};
const Words kCmd = {"cmd", "-c"};

INSTANTIATE_TEST_SUITE_P(
    Cases, ProgramOfTest,
    testing::Values(
        Row{"neither", kEntry, kCmd, {}, {}, {}, {"/entry", "-e", "cmd", "-c"}},
        Row{"command_only", kEntry, kCmd, {"/mine"}, {}, {}, {"/mine"}},
        Row{"args_only", kEntry, kCmd, {}, {"a", "b"}, {}, {"/entry", "-e", "a", "b"}},
        Row{"both", kEntry, kCmd, {"/mine"}, {"a"}, {}, {"/mine", "a"}},
        Row{"neither_with_flags",
            kEntry,
            kCmd,
            {},
            {},
            {"--lr", "1"},
            {"/entry", "-e", "cmd", "-c", "--lr", "1"}},
        Row{"command_with_flags", kEntry, kCmd, {"/mine"}, {}, {"--lr", "1"}, {"/mine", "--lr", "1"}},
        Row{"args_with_flags", kEntry, kCmd, {}, {"a"}, {"--lr", "1"}, {"/entry", "-e", "a", "--lr", "1"}},
        Row{"only_entrypoint", kEntry, {}, {}, {}, {}, {"/entry", "-e"}},
        Row{"only_cmd", {}, kCmd, {}, {}, {}, {"cmd", "-c"}},
        Row{"only_cmd_replaced", {}, kCmd, {}, {"a"}, {}, {"a"}},
        Row{"empty_words_stay", kEntry, {}, {}, {"", "a b"}, {}, {"/entry", "-e", "", "a b"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(ProgramOfTest, SaysThatThereIsNothingToRun) {
  replica::v1::Manifest::Container container;
  container.add_service_args("--job-dir");
  const auto program = ProgramOf({}, container);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(program.error().message,
            "the image has neither ENTRYPOINT nor CMD, and the job gives no command to run");
}

}  // namespace
}  // namespace trainyard::container
