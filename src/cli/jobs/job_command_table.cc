#include <array>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/stream_logs.h"

namespace trainyard::cli {
namespace {

constexpr auto kDescribeFlags =
    WithCommonFlags({{"--summarize", "", "Show tables of the most important fields instead."}});
constexpr auto kListFlags =
    WithCommonFlags({{"--filter", "EXPRESSION",
                      "Print only matching jobs: KEY=VALUE, KEY:VALUE, KEY~REGEX with AND, OR, NOT and "
                      "parentheses."},
                     {"--limit", "LIMIT", "Print at most this many jobs.", CheckPositiveInteger},
                     {"--page-size", "SIZE", "Print a new table after this many jobs.", CheckPositiveInteger},
                     {"--sort-by", "FIELD,...",
                      "Sort the jobs by these fields; ~FIELD sorts in descending order.", CheckList},
                     {"--uri", "", "Print the address of each job only."}});
constexpr auto kStreamFlags = WithCommonFlags(
    {{"--allow-multiline-logs", "", "Do not split messages at their line ends."},
     {"--last", "COUNT", "Print this many of the last entries and exit.", CheckPositiveInteger},
     {"--polling-interval", "SECONDS",
      "Seconds between two requests for new entries, if the server does not stream them. Default: 0.5.",
      CheckPositiveInteger},
     {"--task-name", "TASK", "Print only entries of this replica, for example master-replica-0."}});
constexpr auto kUpdateFlags =
    WithCommonFlags({{"--clear-labels", "", "Remove all labels first."},
                     Repeated({"--remove-labels", "KEY,...", "Labels to remove.", CheckList}),
                     Repeated({"--update-labels", "KEY=VALUE,...", "Labels to set.", CheckLabels})});

constexpr std::string_view kLabelsExclusive[] = {"--clear-labels", "--remove-labels"};
constexpr FlagGroup kUpdateGroups[] = {{FlagGroup::Rule::kExclusive, kLabelsExclusive}};

/// All of gcloud's, alpha and beta included.
constexpr auto kSubmitFlags = WithCommonFlags({
    {"--async", "", "(DEPRECATED) Do not wait for the job. The default; --stream-logs waits."},
    {"--config", "CONFIG", "YAML or JSON file with a Job resource; flags override its fields."},
    {"--enable-web-access", "", "Allow interactive shells in the replicas."},
    {"--job-dir", "JOB_DIR",
     "gs:// path for the job's output, passed to the program as --job-dir. Packages are "
     "uploaded below it if --staging-bucket is not given.",
     CheckJobDir},
    {"--kms-key", "KMS_KEY", "Key that protects the job, or its full name."},
    {"--kms-keyring", "KMS_KEYRING", "Key ring of the key."},
    {"--kms-location", "KMS_LOCATION", "Location of the key."},
    {"--kms-project", "KMS_PROJECT", "Project of the key."},
    Repeated({"--labels", "KEY=VALUE,...", "Labels of the job.", CheckLabels}),
    {"--master-accelerator", "type=TYPE,count=COUNT", "Accelerators of the master.", CheckAccelerator},
    {"--master-image-uri", "IMAGE", "Container image of the master; not together with --runtime-version."},
    {"--master-machine-type", "TYPE", "Machine type of the master; needed with --scale-tier=custom."},
    {"--module-name", "MODULE", "Python module to run."},
    Beta({"--network", "NETWORK", "projects/P/global/networks/N to which the job is peered."}),
    {"--package-path", "PATH",
     "Directory of a Python package. It is built with the setup.py next to it, or with a "
     "generated one."},
    {"--packages", "PACKAGE,...", "Archives to install: local files, which are uploaded, or gs:// paths.",
     CheckList},
    {"--parameter-server-accelerator", "type=TYPE,count=COUNT", "Accelerators of each parameter server.",
     CheckAccelerator},
    {"--parameter-server-count", "COUNT", "Number of parameter servers.", CheckPositiveInteger},
    {"--parameter-server-image-uri", "IMAGE",
     "Container image of the parameter servers. Default: the master's."},
    {"--parameter-server-machine-type", "TYPE", "Machine type of the parameter servers."},
    {"--python-version", "VERSION", "Python version that the runtime version must have."},
    {"--region", "REGION", "Region of the job. Default: CLOUDSDK_COMPUTE_REGION or gcloud's compute/region."},
    {"--runtime-version", "VERSION", "Runtime version that the program needs."},
    {"--scale-tier", "basic|basic-gpu|basic-tpu|custom|premium-1|standard-1", "The replicas of the job.",
     CheckScaleTier},
    {"--service-account", "ACCOUNT", "Service account that the program runs as.", CheckServiceAccount},
    {"--staging-bucket", "BUCKET", "gs:// bucket that packages are uploaded to.", CheckStagingBucket},
    {"--stream-logs", "", "Show the job's log until it ends. Ctrl-C ends only this command."},
    Beta({"--tpu-tf-version", "VERSION", "TensorFlow version of the TPU workers."}),
    {"--use-chief-in-tf-config", "true|false", "Call the master \"chief\" in TF_CONFIG.", CheckBoolean},
    {"--worker-accelerator", "type=TYPE,count=COUNT", "Accelerators of each worker.", CheckAccelerator},
    {"--worker-count", "COUNT", "Number of workers.", CheckPositiveInteger},
    {"--worker-image-uri", "IMAGE", "Container image of the workers. Default: the master's."},
    {"--worker-machine-type", "TYPE", "Machine type of the workers."},
});

constexpr std::string_view kSync[] = {"--async", "--stream-logs"};
constexpr std::string_view kKms[] = {"--kms-key", "--kms-keyring", "--kms-location", "--kms-project"};
constexpr std::string_view kParameterServers[] = {"--parameter-server-count",
                                                  "--parameter-server-machine-type"};
constexpr std::string_view kWorkers[] = {"--worker-count", "--worker-machine-type"};
constexpr FlagGroup kSubmitGroups[] = {{FlagGroup::Rule::kExclusive, kSync},
                                       {FlagGroup::Rule::kFirstNeeded, kKms},
                                       {FlagGroup::Rule::kAllOrNone, kParameterServers},
                                       {FlagGroup::Rule::kAllOrNone, kWorkers}};

const Command kJobCommands[] = {
    {.spec = {.path = "jobs cancel",
              .summary = "Cancel a running training job.",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "jobs cancel census_1"},
     .run = CancelJob},
    {.spec = {.path = "jobs delete",
              .summary = "Delete a finished job with its log, metrics and trials (administrators only).",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "jobs delete census_1"},
     .run = DeleteJob},
    {.spec = {.path = "jobs describe",
              .summary = "Describe a training job.",
              .positional = "JOB",
              .flags = kDescribeFlags,
              .examples = "jobs describe census_1\n"
                          "jobs describe census_1 --summarize\n"
                          "jobs describe census_1 --format=value(state)"},
     .run = DescribeJob},
    {.spec = {.path = "jobs list",
              .summary = "List existing training jobs.",
              .flags = kListFlags,
              .examples = "jobs list --limit=10\n"
                          "jobs list --filter=state=FAILED --sort-by=~createTime\n"
                          "jobs list --format=json"},
     .run = ListJobs},
    {.spec = {.path = "jobs maintain",
              .summary = "Restart a replica of a job, as a maintenance event of its machine would.",
              .positional = "JOB",
              .second = "REPLICA",
              .flags = kCommonFlags,
              .examples = "jobs maintain census_1 worker-replica-0"},
     .run = MaintainJob},
    {.spec = {.path = "jobs preparation",
              .summary = "Show all output of pip and uv from the installation of a job's packages.",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "jobs preparation census_1"},
     .run = ShowPreparation},
    {.spec = {.path = "jobs shell",
              .summary = "Open a shell in a replica of a running training job.",
              .positional = "JOB",
              .second = "[REPLICA]",
              .flags = kCommonFlags,
              .examples = "jobs shell census_1\n"
                          "jobs shell census_1 worker-replica-0"},
     .run = OpenJobShell},
    {.spec = {.path = "jobs stream-logs",
              .summary = "Show logs from a running training job.",
              .positional = "JOB",
              .flags = kStreamFlags,
              .examples = "jobs stream-logs census_1\n"
                          "jobs stream-logs census_1 --last=100 --task-name=master-replica-0"},
     .run = StreamJobLogs},
    {.spec = {.path = "jobs submit training",
              .summary = "Submit a training job.",
              .positional = "JOB",
              .passthrough = true,
              .flags = kSubmitFlags,
              .groups = kSubmitGroups,
              .examples = "jobs submit training census_1 --region=us-central1 --package-path=trainer "
                          "--module-name=trainer.task --job-dir=gs://bucket/census_1 -- --epochs=5\n"
                          "jobs submit training census_2 --region=us-central1 "
                          "--master-image-uri=registry.local/census:1 --stream-logs\n"
                          "jobs submit training census_3 --config=config.yaml --labels=owner=ann,stage=test"},
     .run = SubmitTraining},
    {.spec = {.path = "jobs trials",
              .summary = "Show the trials of a hyperparameter tuning job. Formats: table, csv, json, yaml.",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "jobs trials census_1\n"
                          "jobs trials census_1 --format=csv"},
     .run = ListTrials},
    {.spec = {.path = "jobs update",
              .summary = "Update the labels of a training job.",
              .positional = "JOB",
              .flags = kUpdateFlags,
              .groups = kUpdateGroups,
              .examples = "jobs update census_1 --update-labels=stage=done --remove-labels=owner"},
     .run = UpdateJob},
    {.spec = {.path = "logs",
              .summary = "Show a job's log, the same as jobs stream-logs.",
              .positional = "JOB",
              .flags = kStreamFlags,
              .examples = "logs census_1"},
     .run = StreamJobLogs},
    {.spec = {.path = "ps",
              .summary = "List the jobs, the same as jobs list.",
              .flags = kListFlags,
              .examples = "ps"},
     .run = ListJobs},
    {.spec = {.path = "status",
              .summary = "Describe a job, the same as jobs describe.",
              .positional = "JOB",
              .flags = kDescribeFlags,
              .examples = "status census_1"},
     .run = DescribeJob},
    {.spec = {.path = "stop",
              .summary = "Cancel a running job, the same as jobs cancel.",
              .positional = "JOB",
              .flags = kCommonFlags,
              .examples = "stop census_1"},
     .run = CancelJob},
};

}  // namespace

std::span<const Command> JobsCommands() { return kJobCommands; }

}  // namespace trainyard::cli
