#pragma once

#include <span>

#include "cli/commands.h"

namespace trainyard::cli {

/// `config check`, `config show`. What they do is the server's: ServerSide.
[[nodiscard]] std::span<const Command> ConfigCommands();

}  // namespace trainyard::cli
