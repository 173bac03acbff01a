#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/configuration/key.h"
#include "cli/command_session.h"
#include "cli/gcloud/command_spec.h"

namespace trainyard::cli {

/// A command that needs the server.
using ServerCommand = ExitStatus (*)(const CommandSession& session);
/// A command that needs no server, or finds it in its own way.
using LocalCommand = ExitStatus (*)(const LocalSession& session);

/// A row of a table: what a command accepts, and its function (none: main.cc has it). Each directory of
/// commands has one table; commands.cc gathers them.
struct Command {
  CommandSpec spec;
  std::variant<std::monostate, ServerCommand, LocalCommand> run = {};
};

/// All commands of this program's own, sorted by path. (`serve` and `replica` are the server's.)
[[nodiscard]] std::span<const Command* const> Commands();

/// The tables of which Commands() is made, one of each directory.
[[nodiscard]] std::span<const Command> AdminCommands();
[[nodiscard]] std::span<const Command> AlgorithmsCommands();
[[nodiscard]] std::span<const Command> AuthCommands();
[[nodiscard]] std::span<const Command> ClientCommands();
[[nodiscard]] std::span<const Command> ImagesCommands();
[[nodiscard]] std::span<const Command> JobsCommands();
[[nodiscard]] std::span<const Command> LocalCommands();
[[nodiscard]] std::span<const Command> ResultsCommands();
[[nodiscard]] std::span<const Command> RunCommands();
[[nodiscard]] std::span<const Command> StorageCommands();
[[nodiscard]] std::span<const Command> TopCommands();

/// The longest command or group that the words begin with. `command` is null for a group ("jobs"); then
/// `depth` words form the group's path.
struct CommandMatch {
  const Command* command = nullptr;
  std::size_t depth = 0;
};
[[nodiscard]] CommandMatch FindCommand(const std::vector<std::string>& words);

/// The names that may follow a group's path ("" is the top level), sorted, each with its summary; groups have
/// no summary.
struct Choice {
  std::string_view name;
  std::string_view summary;
  bool is_group = false;
};
[[nodiscard]] std::vector<Choice> ChoicesIn(std::string_view group);

/// What `trainyard serve` does, in one line.
inline constexpr std::string_view kServeSummary =
    "Run a server with the training API (ml v1), buckets (storage v1) and logs (logging v2) on this machine.";

inline constexpr std::string_view kServeExamples =
    "serve\n"
    "serve --data /srv/trainyard --capacity strict\n"
    "serve --config /etc/trainyard/config.yaml --verbose\n"
    "serve --auth on --listen 0.0.0.0:8443 --host-name yard.example";

/// The flags of `trainyard serve`, whose table is the server's: docs/adr/0065-one-row-for-a-flag.md.
using ServeFlags = std::vector<configuration::Key> (*)();

/// What the server's own code does for commands: this directory must not include it. All are set.
struct ServerSide {
  ServeFlags flags = nullptr;
  /// `config check`. Returns the exit status.
  int (*check_config)(const std::string& path) = nullptr;  ///< empty: the installed service's file
  /// `config show`: the words after it, which are read as those of `serve`. Returns the exit status.
  int (*show_config)(const std::vector<std::string>& words) = nullptr;
};

}  // namespace trainyard::cli

namespace trainyard {

/// All commands but `serve` and `replica`: argv as main has it. Returns the exit status: 0, 1 when the
/// command failed, 2 when the command line is wrong, as gcloud.
int RunCommandLine(int argc, char** argv, const cli::ServerSide& server);

}  // namespace trainyard
