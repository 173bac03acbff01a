#include <array>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/top/top_commands.h"

namespace trainyard::cli {
namespace {

constexpr auto kTopFlags = WithCommonFlags(
    {{"--once", "", "Print it once, also on a terminal; else it is shown anew until q or Ctrl-C."}});

const Command kCommands[] = {
    {.spec = {.path = "top",
              .summary =
                  "Shows who uses what: jobs of all projects, the machine, the queue with its reasons.",
              .flags = kTopFlags,
              .examples = "top\n"
                          "top --once\n"
                          "top --format=json"},
     .run = ShowTop},
};

}  // namespace

std::span<const Command> TopCommands() { return kCommands; }

}  // namespace trainyard::cli
