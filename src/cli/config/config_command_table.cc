#include "cli/config/config_commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

const Command kCommands[] = {
    {.spec = {.path = "config check",
              .summary = "Check a configuration file, /etc/trainyard/config.yaml if none is named.",
              .positional = "[FILE]",
              .optional = true,
              .flags = kCommonFlags,
              .examples = "config check\nconfig check config.yaml"}},
    {.spec = {.path = "config show",
              .summary = "Print the settings that a file and flags of `serve` give, each with its source.",
              .positional = "[FILE]",
              .optional = true,
              .examples = "config show\nconfig show config.yaml"}},
};

}  // namespace

std::span<const Command> ConfigCommands() { return kCommands; }

}  // namespace trainyard::cli
