#include "cli/help/completion.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trainyard::cli::completion_test {
namespace {

using Names = Completion::Names;

const std::vector<configuration::Key>& Serve() {
  using configuration::Key;
  static const std::vector<Key> kFlags{
      {.name = "data", .flag = "--data", .metavar = "DIR"},
      {.name = "network", .flag = "--network", .metavar = "host|isolated", .fallback = "host"},
      {.name = "verbose", .flag = "--verbose", .kind = Key::Kind::kSwitch}};
  return kFlags;
}

std::string Offered(const std::vector<std::string>& words) {
  std::string text;
  for (const Completion::Candidate& candidate : Complete(words, Serve()).candidates)
    text += (text.empty() ? "" : " ") + candidate.word;
  return text;
}

struct Row {
  const char* name;
  std::vector<std::string> words;  ///< the last one is being typed
  const char* offered;
};
class Candidates : public testing::TestWithParam<Row> {};
TEST_P(Candidates, Are) { EXPECT_EQ(Offered(GetParam().words), GetParam().offered); }
INSTANTIATE_TEST_SUITE_P(
    Rows, Candidates,
    testing::Values(
        Row{"group", {"jo"}, "jobs"}, Row{"serve", {"ser"}, "serve"},
        Row{"command", {"jobs", "des"}, "describe"}, Row{"nested", {"jobs", "submit", ""}, "training"},
        Row{"gcloud_group", {"ai-platform", "jobs", "submit", "t"}, "training"},
        Row{"unknown_group", {"nope", ""}, ""}, Row{"flag", {"jobs", "list", "--lim"}, "--limit"},
        Row{"flag_before_command", {"--proj"}, "--project"},
        Row{"command_after_flag", {"--project", "p", "jobs", "des"}, "describe"},
        Row{"command_after_flag_with_value", {"--project=p", "jobs", "des"}, "describe"},
        Row{"flag_given_already", {"jobs", "list", "--limit=5", "--lim"}, ""},
        Row{"flag_that_adds_up",
            {"jobs", "update", "j", "--update-labels=a=b", "--update"},
            "--update-labels"},
        Row{"choice", {"jobs", "submit", "training", "j", "--scale-tier", "basic-"}, "basic-gpu basic-tpu"},
        Row{"choice_after_equals",
            {"jobs", "submit", "training", "j", "--scale-tier=prem"},
            "--scale-tier=premium-1"},
        Row{"unknown_flag_with_value", {"jobs", "list", "--nope=x"}, ""},
        Row{"format", {"jobs", "list", "--format", "j"}, "json"},
        Row{"machine_type",
            {"jobs", "submit", "training", "j", "--master-machine-type", "n1-standard-4"},
            "n1-standard-4"},
        Row{"positional_choice", {"completion", ""}, "bash zsh fish"},
        Row{"help_of_a_command", {"help", "jobs", "submit", ""}, "training"},
        Row{"program_arguments", {"jobs", "submit", "training", "j", "--", "--lim"}, ""},
        Row{"serve_flag", {"serve", "--ne"}, "--network"}, Row{"config", {"config", ""}, "check show"},
        Row{"config_flag", {"config", "check", "--verbos"}, "--verbosity"},
        Row{"config_show_flag", {"config", "show", "f.yaml", "--ne"}, "--network"},
        Row{"config_show_choice", {"config", "show", "--network", "i"}, "isolated"},
        Row{"serve_choice", {"serve", "--network", "i"}, "isolated"}),
    [](const auto& row) { return row.param.name; });

struct NamesRow {
  const char* name;
  std::vector<std::string> words;
  Names names;
};
class AskedNames : public testing::TestWithParam<NamesRow> {};
TEST_P(AskedNames, Are) { EXPECT_EQ(Complete(GetParam().words, Serve()).names, GetParam().names); }
INSTANTIATE_TEST_SUITE_P(
    Rows, AskedNames,
    testing::Values(
        NamesRow{"job", {"jobs", "describe", ""}, Names::kJobs},
        NamesRow{"program", {"run", ""}, Names::kFiles},
        NamesRow{"program_after_flags", {"run", "--gpus", "1", "tr"}, Names::kFiles},
        NamesRow{"words_of_a_program", {"run", "train.py", "--da"}, Names::kFiles},
        NamesRow{"only_one_job", {"jobs", "describe", "a", ""}, Names::kNone},
        NamesRow{"new_job", {"jobs", "submit", "training", ""}, Names::kNone},
        NamesRow{"urls", {"storage", "ls", "gs://a", "gs"}, Names::kObjects},
        NamesRow{"file_to_copy", {"storage", "cp", "mod"}, Names::kFiles},
        NamesRow{"object_to_copy", {"storage", "cp", "gs:"}, Names::kObjects},
        NamesRow{"config", {"jobs", "submit", "training", "j", "--config", ""}, Names::kFiles},
        NamesRow{"job_dir", {"jobs", "submit", "training", "j", "--job-dir="}, Names::kObjects},
        NamesRow{"runtime", {"runtimes", "install", "2."}, Names::kRuntimes},
        NamesRow{
            "runtime_flag", {"jobs", "submit", "training", "j", "--runtime-version", ""}, Names::kRuntimes},
        NamesRow{"python_version", {"jobs", "submit", "training", "j", "--python-version", ""}, Names::kNone},
        NamesRow{"serve_directory", {"serve", "--data", ""}, Names::kDirectories}),
    [](const auto& row) { return row.param.name; });

TEST(Complete, KeepsTheServerOfTheLine) {
  const Completion completion =
      Complete({"jobs", "describe", "--server=http://h:1", "--project", "p", ""}, Serve());
  EXPECT_EQ(completion.names, Names::kJobs);
  EXPECT_EQ(completion.arguments.Value("--server"), "http://h:1");
  EXPECT_EQ(completion.arguments.Value("--project"), "p");
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

TEST(Commands, HaveExamplesThatParse) {
  for (const Command* command : Commands()) {
    EXPECT_FALSE(command->spec.examples.empty()) << command->spec.path;
    for (const std::string& line : Split(std::string(command->spec.examples), '\n')) {
      std::vector<std::string> words = Split(line.substr(0, line.find_first_of("|>")), ' ');
      const CommandMatch found = FindCommand(words);
      ASSERT_EQ(found.command, command) << line;
      words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(found.depth));
      EXPECT_TRUE(ParseArguments(command->spec, "trainyard", words)) << line;
    }
  }
}

}  // namespace
}  // namespace trainyard::cli::completion_test
