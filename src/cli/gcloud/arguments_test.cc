#include "cli/gcloud/arguments.h"

#include <gtest/gtest.h>

#include "cli/commands.h"

namespace trainyard::cli::arguments_test {
namespace {

const CommandSpec& Submit() { return FindCommand({"jobs", "submit", "training"}).command->spec; }

struct Row {
  const char* name;
  std::vector<std::string> words;
  const char* error;  ///< empty: accepted
};

class ParseRules : public testing::TestWithParam<Row> {};

TEST_P(ParseRules, SaysWhatIsWrong) {
  Result<Arguments> arguments = ParseArguments(Submit(), "trainyard", GetParam().words);
  std::string error = arguments ? "" : arguments.error().message;
  EXPECT_EQ(error.substr(0, error.find('\n')), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Submit, ParseRules,
    testing::Values(
        Row{"plain", {"j", "--region", "r"}, ""}, Row{"equals", {"j", "--region=r"}, ""},
        Row{"flag_first", {"--region", "r", "j"}, ""},
        Row{"no_job", {"--region", "r"}, "argument JOB: Must be specified."},
        Row{"value_missing", {"j", "--region"}, "argument --region: expected one argument"},
        Row{"value_is_flag",
            {"j", "--region", "--labels", "a=b"},
            "argument --region: expected one argument"},
        Row{"value_is_number", {"j", "--module-name", "-5"}, ""},
        Row{"value_is_dash", {"j", "--module-name", "-"}, ""},
        Row{"value_with_equals", {"j", "--config=a=b c"}, ""},
        Row{"switch_with_value", {"j", "--async=yes"}, "argument --async: ignored explicit argument 'yes'"},
        Row{"no_prefixes", {"j", "--regio", "r"}, "unrecognized arguments:"},
        Row{"unknown_before_group", {"--nope", "--worker-count", "1"}, "unrecognized arguments: --nope "},
        Row{"bad_value_before_unknown",
            {"--nope", "--worker-count", "x"},
            "argument --worker-count: Value must be an integer; received: x"},
        Row{"exclusive",
            {"j", "--async", "--stream-logs"},
            "argument --async: At most one of --async | --stream-logs can be specified."},
        Row{"both_or_none", {"j", "--worker-count=1"}, "argument --worker-machine-type: Must be specified."},
        Row{"group_before_positional",
            {"--worker-count=1"},
            "argument --worker-machine-type: Must be specified."},
        Row{"key_needed",
            {"j", "--kms-keyring=r", "--kms-location=l"},
            "argument --kms-keyring --kms-location: --kms-key must be specified."}),
    [](const auto& row) { return row.param.name; });

TEST(ParseArguments, KeepsWhatFollowsTheDashes) {
  Result<Arguments> arguments =
      ParseArguments(Submit(), "trainyard", {"j", "--region=r", "--", "--region", "x", "--", "y"});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->passthrough, (std::vector<std::string>{"--region", "x", "--", "y"}));
  EXPECT_EQ(arguments->Value("--region"), "r");
}

TEST(ParseArguments, LastValueCountsAndLabelsAddUp) {
  Result<Arguments> arguments = ParseArguments(
      Submit(), "trainyard", {"j", "--region=a", "--region=b", "--labels=a=1", "--labels", "b=2"});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_EQ(arguments->Value("--region"), "b");
  EXPECT_EQ(arguments->flags.find("--labels")->second, (std::vector<std::string>{"a=1", "b=2"}));
}

TEST(ParseArguments, SwitchesCanBeTakenBack) {
  Result<Arguments> arguments =
      ParseArguments(Submit(), "trainyard", {"j", "--enable-web-access", "--no-enable-web-access"});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_FALSE(arguments->IsOn("--enable-web-access"));
}

TEST(ParseArguments, HelpWinsOverMissingThings) {
  Result<Arguments> arguments = ParseArguments(Submit(), "trainyard", {"--nope", "-h"});
  ASSERT_TRUE(arguments.has_value());
  EXPECT_TRUE(arguments->Has("--help"));
}

TEST(FindCommand, TakesTheLongestPath) {
  EXPECT_EQ(FindCommand({"jobs", "list", "x"}).command->spec.path, "jobs list");
  EXPECT_EQ(FindCommand({"jobs", "nope"}).command, nullptr);
  EXPECT_EQ(FindCommand({"jobs", "nope"}).depth, 1U);
  EXPECT_EQ(FindCommand({"nope"}).depth, 0U);
  EXPECT_EQ(FindCommand({"jobs", "submit"}).depth, 2U);
}

TEST(ParseArguments, LeavesAllThatFollowsAProgramToIt) {
  const CommandSpec& run = FindCommand({"run"}).command->spec;
  const auto words = [&](std::vector<std::string> given) {
    Result<Arguments> parsed = ParseArguments(run, "trainyard", given);
    EXPECT_TRUE(parsed) << parsed.error().message;
    std::vector<std::string> all = parsed->positionals;
    if (parsed->passthrough) all.insert(all.end(), parsed->passthrough->begin(), parsed->passthrough->end());
    all.push_back(parsed->Value("--gpus").value_or("none"));
    return all;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words({"--gpus=2", "train.py", "--gpus", "3", "--", "x"}),
            (Words{"train.py", "--gpus", "3", "--", "x", "2"}));
  EXPECT_EQ(words({"-m", "pkg.task", "--help"}), (Words{"-m", "pkg.task", "--help", "none"}));
  EXPECT_EQ(words({"--gpus", "2", "train.py"}), (Words{"train.py", "2"}));
  Result<Arguments> unknown = ParseArguments(run, "trainyard", {"--gpu", "2", "train.py"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("--gpu (did you mean '--gpus'?)"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::cli::arguments_test
