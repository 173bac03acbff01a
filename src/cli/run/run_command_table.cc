#include <array>

#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/run/run_commands.h"

namespace trainyard::cli {
namespace {

constexpr FlagSpec kAsyncFlag{"--async", "", "Do not wait for the job, nor show its log."};
constexpr FlagSpec kEnvFlag =
    Repeated({"--env", "NAME=VALUE", "A variable of the program. May be given several times."});
constexpr FlagSpec kNameFlag{"--name", "JOB", "Name of the job. Default: the program's, and the time."};
constexpr auto kRunFlags = WithCommonFlags(
    {kAsyncFlag,
     kDataDirFlag,
     kEnvFlag,
     {"--gpus", "COUNT", "GPUs of each replica: 1, 2, 4 or 8.", CheckGpuCount},
     {"--image", "IMAGE", "Run this container image; the words after -- are its arguments."},
     {"--job-dir", "JOB_DIR",
      "gs:// path for the job's output, passed to the program as --job-dir. Without it the "
      "variable TRAINYARD_JOB_DIR names a folder of the job's own.",
      CheckJobDir},
     kNameFlag,
     {"--runtime-version", "VERSION", "Runtime version that the program needs. Default: by what it imports."},
     Repeated({"--secret", "NAME",
               "A variable whose value is not kept with the job and not shown in its log. The value is "
               "that of your own variable NAME, or is asked for. May be given several times."}),
     {"--workers", "COUNT",
      "Workers beside the master; TF_CONFIG and the variables of torch.distributed are set.",
      CheckWorkerCount}});

constexpr auto kRerunFlags =
    WithCommonFlags({kAsyncFlag, kDataDirFlag, kEnvFlag, kNameFlag,
                     Repeated({"--secret", "NAME",
                               "A further secret. Those that the former job had are read again anyway."})});

const Command kCommands[] = {
    {.spec = {.path = "jobs rerun",
              .summary = "Run a job once more, as a new job: other arguments after --.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kRerunFlags,
              .examples = "jobs rerun census_1\njobs rerun census_1 -- --epochs=20"},
     .run = RerunFormerJob},
    {.spec = {.path = "run",
              .summary = "Run a Python program, a notebook or an image as a job and show its log.",
              .positional = "PROGRAM",
              .optional = true,
              .program = true,
              .flags = kRunFlags,
              .examples = "run train.py --epochs 10\n"
                          "run --gpus 1 --env SEED=7 --secret HF_TOKEN train.py\n"
                          "run --image example.com/trainer:1 -- --epochs 10"},
     .run = RunProgram},
};

}  // namespace

std::span<const Command> RunCommands() { return kCommands; }

}  // namespace trainyard::cli
