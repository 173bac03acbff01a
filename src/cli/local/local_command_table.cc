#include <array>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/local/local_commands.h"

namespace trainyard::cli {
namespace {

constexpr auto kInstallRuntimeFlags =
    WithCommonFlags({{"--from-image", "IMAGE",
                      "Container image to copy Python from if this machine has no matching Python: "
                      "python:3.7-slim. Use an image that you trust: its Python runs as this account."}});
constexpr auto kLocalTrainFlags = WithCommonFlags(
    {{"--distributed", "", "Run one process for each member of a cluster and set TF_CONFIG for each."},
     {"--evaluator-count", "COUNT", "Number of evaluators. Default: 0.", CheckReplicaCount},
     {"--job-dir", "JOB_DIR", "Output directory, passed to the program as --job-dir."},
     Required({"--module-name", "MODULE", "Python module to run."}),
     {"--package-path", "PATH", "Directory of the Python package. Default: the current directory."},
     {"--parameter-server-count", "COUNT", "Number of parameter servers. Default: 2.", CheckReplicaCount},
     {"--start-port", "PORT", "First port of the cluster, which needs one port per member. Default: 27182.",
      CheckReplicaCount},
     {"--worker-count", "COUNT", "Number of workers. Default: 2.", CheckReplicaCount}});

const Command kLocalCommands[] = {
    {.spec = {.path = "local train",
              .summary = "Run a training program on this machine, without a server.",
              .passthrough = true,
              .flags = kLocalTrainFlags,
              .examples = "local train --package-path=trainer --module-name=trainer.task -- --epochs=1\n"
                          "local train --module-name=trainer.task --distributed --worker-count=3"},
     .run = TrainLocally},
    {.spec = {.path = "runtimes describe",
              .summary = "Describe a runtime version and its packages.",
              .positional = "VERSION",
              .flags = kCommonFlags,
              .examples = "runtimes describe 2.11"},
     .run = DescribeRuntime},
    {.spec = {.path = "runtimes install",
              .summary = "Build the environment of a runtime version.",
              .positional = "VERSION",
              .flags = kInstallRuntimeFlags,
              .examples = "runtimes install 2.11\nruntimes install 2.4 --from-image python:3.7-slim"},
     .run = InstallRuntime},
    {.spec = {.path = "runtimes list",
              .summary = "List the runtime versions and whether they are built.",
              .flags = kCommonFlags,
              .examples = "runtimes list"},
     .run = ListRuntimes},
    {.spec = {.path = "runtimes remove",
              .summary = "Remove the environment of a runtime version, or the cache of downloads.",
              .positional = "VERSION",
              .flags = kCommonFlags,
              .examples = "runtimes remove 2.11\nruntimes remove cache"},
     .run = RemoveRuntime},
};

}  // namespace

std::span<const Command> LocalCommands() { return kLocalCommands; }

}  // namespace trainyard::cli
