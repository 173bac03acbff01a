#pragma once

#include <span>

#include "cli/command_session.h"

namespace trainyard::cli {

struct Command;

/// The table of `top`.
[[nodiscard]] std::span<const Command> TopCommands();

/// `top`: jobs of all projects that have not ended, what they hold or wait for, the machine, and what
/// projects used. On a terminal it is shown anew every two seconds until q or Ctrl-C; on a pipe, with --once
/// or with
/// --format once. One thread.
[[nodiscard]] ExitStatus ShowTop(const CommandSession& session);

}  // namespace trainyard::cli
