#include "cli/algorithms/algorithms_commands.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

const Command kCommands[] = {
    {.spec = {.path = "algorithms describe",
              .summary = "Describe a built-in algorithm: its arguments, data and metrics, and a first job.",
              .positional = "NAME",
              .flags = kCommonFlags,
              .examples = "algorithms describe linear_learner\n"
                          "algorithms describe gcr.io/cloud-ml-algos/boosted_trees:latest"},
     .run = DescribeAlgorithm},
    {.spec = {.path = "algorithms list",
              .summary = "List the built-in algorithms, which train without code of one's own.",
              .flags = kCommonFlags,
              .examples = "algorithms list"},
     .run = ListAlgorithms},
};

}  // namespace

std::span<const Command> AlgorithmsCommands() { return kCommands; }

}  // namespace trainyard::cli
