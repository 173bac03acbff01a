#include <array>

#include "cli/clients/client_commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

constexpr auto kEnvFlags = WithCommonFlags(
    {kDataDirFlag,
     {"--shell", "SHELL", "Shell to print the settings for: sh."},
     {"--unset", "", "Print what takes the settings back, with the values that they replaced."}});
constexpr auto kWithFlags = WithCommonFlags({kDataDirFlag});

const Command kCommands[] = {
    {.spec = {.path = "env",
              .summary = "Prints settings that point gcloud and client libraries at the server.",
              .flags = kEnvFlags,
              .examples = "env\nenv --unset"},
     .run = PrintClientEnvironment},
    {.spec = {.path = "with",
              .summary = "Runs a command for which Google's host names mean this server.",
              .passthrough = true,
              .flags = kWithFlags,
              .examples = "with -- gsutil ls\nwith -- python3 submit.py"},
     .run = RunWith},
};

}  // namespace

std::span<const Command> ClientCommands() { return kCommands; }

}  // namespace trainyard::cli
