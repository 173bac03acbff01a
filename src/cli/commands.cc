#include "cli/commands.h"

#include <algorithm>
#include <array>

#include "cli/admin/admin_commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/help/completion.h"
#include "cli/help/print_version.h"
#include "cli/images/images_commands.h"
#include "cli/jobs/job_commands.h"
#include "cli/local/local_commands.h"
#include "cli/results/results_commands.h"
#include "cli/storage/storage_commands.h"

namespace trainyard::cli {
namespace {

constexpr auto kHelpFlags = WithCommonFlags(
    {{"--man", "", "Print the manual page of all commands: trainyard help --man | man -l -"}});

/// The commands of no directory. Those without a function are part of main.cc, or the server's (ServerSide).
const Command kTopCommands[] = {
    {.spec = {.path = "completion",
              .summary = "Print a shell script that completes commands, flags, jobs and buckets.",
              .positional = "bash|zsh|fish",
              .flags = kCommonFlags,
              .examples = "completion bash > ~/.local/share/bash-completion/completions/trainyard\n"
                          "completion zsh > ~/.zfunc/_trainyard\n"
                          "completion fish > ~/.config/fish/completions/trainyard.fish"},
     .run = PrintCompletionScript},
    {.spec = {.path = "config check",
              .summary = "Check a configuration file. Default: /etc/trainyard/config.yaml.",
              .positional = "[FILE]",
              .optional = true,
              .flags = kCommonFlags,
              .examples = "config check\nconfig check config.yaml"}},
    {.spec = {.path = "config show",
              .summary =
                  "Print the effective settings of a configuration file and flags, each with its source.",
              .positional = "[FILE]",
              .optional = true,
              .examples = "config show\nconfig show config.yaml"}},
    {.spec = {.path = "help",
              .summary = "Show the commands.",
              .positional = "COMMAND",
              .repeats = true,
              .optional = true,
              .flags = kHelpFlags,
              .examples = "help jobs\nhelp jobs submit training\nhelp --man | man -l -"}},
    {.spec = {.path = "version",
              .summary = "Print the version, the commit and the build type.",
              .flags = kCommonFlags,
              .examples = "version\nversion --format=json"},
     .run = PrintVersion},
};

/// The table of each group's directory. A new directory adds a line.
std::vector<const Command*> GatherCommands() {
  std::vector<const Command*> all;
  for (std::span<const Command> table :
       {std::span<const Command>(kTopCommands), AdminCommands(), AlgorithmsCommands(), AuthCommands(),
        ClientCommands(), ImagesCommands(), JobsCommands(), LocalCommands(), ResultsCommands(), RunCommands(),
        StorageCommands(), TopCommands()})
    for (const Command& command : table) all.push_back(&command);
  std::ranges::sort(all, {}, [](const Command* command) { return command->spec.path; });
  return all;
}

/// The path's first word, and whether more words follow.
std::pair<std::string_view, bool> FirstWord(std::string_view path) {
  std::size_t space = path.find(' ');
  return {path.substr(0, space), space != std::string_view::npos};
}

}  // namespace

std::span<const Command* const> Commands() {
  static const std::vector<const Command*> kAll = GatherCommands();
  return kAll;
}

CommandMatch FindCommand(const std::vector<std::string>& words) {
  CommandMatch found;
  std::string path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    path += (path.empty() ? "" : " ") + words[i];
    for (const Command* command : Commands())
      if (command->spec.path == path) return {command, i + 1};
    if (ChoicesIn(path).empty()) break;
    found.depth = i + 1;
  }
  return found;
}

std::vector<Choice> ChoicesIn(std::string_view group) {
  std::vector<Choice> choices;
  for (const Command* command : Commands()) {
    std::string_view rest = command->spec.path;
    if (!group.empty()) {
      if (!rest.starts_with(group) || rest.size() <= group.size() || rest[group.size()] != ' ') continue;
      rest.remove_prefix(group.size() + 1);
    }
    auto [name, is_group] = FirstWord(rest);
    bool known = std::ranges::any_of(choices, [name](const Choice& choice) { return choice.name == name; });
    if (!known) choices.push_back({name, is_group ? std::string_view() : command->spec.summary, is_group});
  }
  return choices;
}

}  // namespace trainyard::cli
