#include "cli/commands.h"

#include <algorithm>
#include <array>

#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/jobs/submit_flags.h"

namespace trainyard::cli {
namespace {

constexpr auto kNoFlags = WithCommonFlags(std::array<FlagSpec, 0>{});
constexpr auto kDescribeFlags =
    WithCommonFlags(std::array{FlagSpec{.name = "--summarize",
                                        .kind = FlagKind::kSwitch,
                                        .help = "Show tables of the most important fields instead."}});
constexpr auto kListFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--filter",
             .metavar = "EXPRESSION",
             .help = "Print only matching jobs: KEY=VALUE, KEY:VALUE, KEY~REGEX with AND, OR, NOT and "
                     "parentheses."},
    FlagSpec{.name = "--limit",
             .metavar = "LIMIT",
             .help = "Print at most this many jobs.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--page-size",
             .metavar = "SIZE",
             .help = "Start a new table after this many jobs.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--sort-by",
             .metavar = "FIELD,...",
             .help = "Order of the jobs; ~FIELD is descending.",
             .check = CheckList},
    FlagSpec{.name = "--uri", .kind = FlagKind::kSwitch, .help = "Print the address of each job only."}});
constexpr auto kStreamFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--allow-multiline-logs",
             .kind = FlagKind::kSwitch,
             .help = "Do not split messages at their line ends."},
    FlagSpec{.name = "--last",
             .metavar = "COUNT",
             .help = "Print this many of the last entries and exit.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--polling-interval",
             .metavar = "SECONDS",
             .help = "Time between two requests for new entries, if the server does not stream them. "
                     "Default: half a second.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--task-name",
             .metavar = "TASK",
             .help = "Only entries of this replica, master-replica-0 for example."}});
constexpr auto kUpdateFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--clear-labels", .kind = FlagKind::kSwitch, .help = "Remove all labels first."},
    FlagSpec{.name = "--remove-labels",
             .kind = FlagKind::kAppend,
             .metavar = "KEY,...",
             .help = "Labels to remove.",
             .check = CheckList},
    FlagSpec{.name = "--update-labels",
             .kind = FlagKind::kAppend,
             .metavar = "KEY=VALUE,...",
             .help = "Labels to set.",
             .check = CheckLabels}});
constexpr auto kEnvFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--data", .metavar = "DIR", .help = "Data directory of the server."},
    FlagSpec{.name = "--shell", .metavar = "SHELL", .help = "Shell to print the settings for: sh."}});
constexpr FlagSpec kDataFlag{.name = "--data", .metavar = "DIR", .help = "Data directory of the server."};
constexpr auto kRuntimesFlags = WithCommonFlags(std::array{kDataFlag});
constexpr FlagSpec kInsecureRegistryFlag{
    .name = "--insecure-registry",
    .kind = FlagKind::kAppend,
    .metavar = "HOST[:PORT]",
    .help = "A registry without TLS. Registries on this machine need not be named."};
constexpr auto kImagesFlags = WithCommonFlags(std::array{kDataFlag});
constexpr auto kPullFlags = WithCommonFlags(std::array{kDataFlag, kInsecureRegistryFlag});
constexpr auto kRemoveImagesFlags = WithCommonFlags(
    std::array{kDataFlag, FlagSpec{.name = "--unused",
                                   .kind = FlagKind::kSwitch,
                                   .help = "All images that no job uses now, including loaded ones."}});
constexpr auto kLoginFlags = WithCommonFlags(std::array{
    kDataFlag, kInsecureRegistryFlag,
    FlagSpec{.name = "--username",
             .metavar = "USER",
             .help = "Name of the account. The command prompts for the password, or reads it from stdin."}});
constexpr auto kLocalTrainFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--distributed",
             .kind = FlagKind::kSwitch,
             .help = "Run a cluster of processes, each with its TF_CONFIG."},
    FlagSpec{.name = "--evaluator-count",
             .metavar = "COUNT",
             .help = "Number of evaluators. Default: 0.",
             .check = CheckReplicaCount},
    FlagSpec{.name = "--job-dir", .metavar = "JOB_DIR", .help = "Passed to the program as --job-dir."},
    FlagSpec{.name = "--module-name", .metavar = "MODULE", .help = "Python module to run.", .required = true},
    FlagSpec{.name = "--package-path",
             .metavar = "PATH",
             .help = "Directory of the Python package. Default: the current directory."},
    FlagSpec{.name = "--parameter-server-count",
             .metavar = "COUNT",
             .help = "Number of parameter servers. Default: 2.",
             .check = CheckReplicaCount},
    FlagSpec{.name = "--start-port",
             .metavar = "PORT",
             .help = "First port of the cluster, which needs one port per member. Default: 27182.",
             .check = CheckReplicaCount},
    FlagSpec{.name = "--worker-count",
             .metavar = "COUNT",
             .help = "Number of workers. Default: 2.",
             .check = CheckReplicaCount}});
constexpr auto kCopyFlags = WithCommonFlags(
    std::array{FlagSpec{.name = "--recursive",
                        .kind = FlagKind::kSwitch,
                        .help = "Include directories and all their contents. -r and -R are the same."}});
constexpr auto kLsFlags = WithCommonFlags(std::array{
    FlagSpec{
        .name = "--long", .kind = FlagKind::kSwitch, .help = "Print sizes and times, too. -l is the same."},
    FlagSpec{.name = "--recursive",
             .kind = FlagKind::kSwitch,
             .help = "List all objects below. -r and -R are the same."}});

constexpr std::string_view kLabelsExclusive[] = {"--clear-labels", "--remove-labels"};
constexpr FlagGroup kUpdateGroups[] = {{FlagGroup::Rule::kExclusive, kLabelsExclusive}};

const std::array kCommands{
    CommandSpec{.path = "env",
                .summary = "Prints settings that point gcloud and client libraries at the server.",
                .flags = kEnvFlags},
    CommandSpec{.path = "help",
                .summary = "Shows the commands.",
                .positional = "COMMAND",
                .repeats = true,
                .optional = true,
                .flags = kNoFlags},
    CommandSpec{.path = "images inspect",
                .summary = "Describe a container image on this machine.",
                .positional = "IMAGE",
                .flags = kImagesFlags},
    CommandSpec{.path = "images list",
                .summary = "List the container images on this machine.",
                .flags = kImagesFlags},
    CommandSpec{.path = "images load",
                .summary = "Load container images from an archive or directory.",
                .positional = "FILE",
                .flags = kImagesFlags},
    CommandSpec{.path = "images pull",
                .summary = "Fetch and unpack a container image.",
                .positional = "IMAGE",
                .flags = kPullFlags},
    CommandSpec{.path = "images push",
                .summary = "Copy a container image to a registry.",
                .positional = "IMAGE",
                .second = "DESTINATION",
                .flags = kPullFlags},
    CommandSpec{.path = "images remove",
                .summary = "Remove container images from this machine.",
                .positional = "IMAGE",
                .repeats = true,
                .optional = true,
                .flags = kRemoveImagesFlags},
    CommandSpec{.path = "jobs cancel",
                .summary = "Cancel a running training job.",
                .positional = "JOB",
                .flags = kNoFlags},
    CommandSpec{.path = "jobs describe",
                .summary = "Describe a training job.",
                .positional = "JOB",
                .flags = kDescribeFlags},
    CommandSpec{.path = "jobs list", .summary = "List existing training jobs.", .flags = kListFlags},
    CommandSpec{.path = "jobs maintain",
                .summary = "Stop a replica of a job and start it again, as maintenance does.",
                .positional = "JOB",
                .second = "REPLICA",
                .flags = kNoFlags},
    CommandSpec{.path = "jobs shell",
                .summary = "Open a shell in a replica of a running training job.",
                .positional = "JOB",
                .second = "[REPLICA]",
                .flags = kNoFlags},
    CommandSpec{.path = "jobs stream-logs",
                .summary = "Show logs from a running training job.",
                .positional = "JOB",
                .flags = kStreamFlags},
    CommandSpec{.path = "jobs submit training",
                .summary = "Submit a training job.",
                .positional = "JOB",
                .passthrough = true,
                .flags = SubmitTrainingFlags(),
                .groups = SubmitTrainingGroups()},
    CommandSpec{.path = "jobs trials",
                .summary = "Show the trials of a hyperparameter tuning job: --format table, csv, json, yaml.",
                .positional = "JOB",
                .flags = kNoFlags},
    CommandSpec{.path = "jobs update",
                .summary = "Update the labels of a training job.",
                .positional = "JOB",
                .flags = kUpdateFlags,
                .groups = kUpdateGroups},
    CommandSpec{.path = "local train",
                .summary = "Run a training program on this machine, without a server.",
                .passthrough = true,
                .flags = kLocalTrainFlags},
    CommandSpec{.path = "registries list",
                .summary = "List the registries with stored credentials.",
                .flags = kImagesFlags},
    CommandSpec{.path = "registries login",
                .summary = "Store the credentials of a registry for jobs.",
                .positional = "REGISTRY",
                .flags = kLoginFlags},
    CommandSpec{.path = "registries logout",
                .summary = "Remove the credentials of a registry.",
                .positional = "REGISTRY",
                .flags = kImagesFlags},
    CommandSpec{.path = "runtimes describe",
                .summary = "Describe a runtime version and its packages.",
                .positional = "VERSION",
                .flags = kRuntimesFlags},
    CommandSpec{.path = "runtimes install",
                .summary = "Build the environment of a runtime version.",
                .positional = "VERSION",
                .flags = kRuntimesFlags},
    CommandSpec{.path = "runtimes list",
                .summary = "List the runtime versions and whether they are built.",
                .flags = kRuntimesFlags},
    CommandSpec{.path = "runtimes remove",
                .summary = "Remove the environment of a runtime version.",
                .positional = "VERSION",
                .flags = kRuntimesFlags},
    CommandSpec{.path = "storage cat",
                .summary = "Print objects.",
                .positional = "URL",
                .repeats = true,
                .flags = kNoFlags},
    CommandSpec{.path = "storage cp",
                .summary = "Copy files and objects.",
                .positional = "SOURCE",
                .repeats = true,
                .flags = kCopyFlags},
    CommandSpec{.path = "storage ls",
                .summary = "List buckets and objects.",
                .positional = "URL",
                .repeats = true,
                .optional = true,
                .flags = kLsFlags},
    CommandSpec{.path = "storage rm",
                .summary = "Delete objects.",
                .positional = "URL",
                .repeats = true,
                .flags = kCopyFlags},
    CommandSpec{.path = "version", .summary = "Prints the version.", .flags = kNoFlags},
};

/// The path's first word, and whether more words follow.
std::pair<std::string_view, bool> FirstWord(std::string_view path) {
  std::size_t space = path.find(' ');
  return {path.substr(0, space), space != std::string_view::npos};
}

}  // namespace

std::span<const CommandSpec> Commands() { return kCommands; }

FoundCommand FindCommand(const std::vector<std::string>& words) {
  FoundCommand found;
  std::string path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    path += (path.empty() ? "" : " ") + words[i];
    for (const CommandSpec& command : kCommands)
      if (command.path == path) return {&command, i + 1};
    if (ChoicesIn(path).empty()) break;
    found.depth = i + 1;
  }
  return found;
}

std::vector<Choice> ChoicesIn(std::string_view group) {
  std::vector<Choice> choices;
  for (const CommandSpec& command : kCommands) {
    std::string_view rest = command.path;
    if (!group.empty()) {
      if (!rest.starts_with(group) || rest.size() <= group.size() || rest[group.size()] != ' ') continue;
      rest.remove_prefix(group.size() + 1);
    }
    auto [name, is_group] = FirstWord(rest);
    bool known = std::ranges::any_of(choices, [name](const Choice& choice) { return choice.name == name; });
    if (!known) choices.push_back({name, is_group ? std::string_view() : command.summary, is_group});
  }
  return choices;
}

}  // namespace trainyard::cli
