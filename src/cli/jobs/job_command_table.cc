#include <array>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/jobs/job_commands.h"
#include "cli/jobs/stream_logs.h"
#include "cli/jobs/submit_flags.h"

namespace trainyard::cli {
namespace {

constexpr auto kDescribeFlags =
    WithCommonFlags(std::array{FlagSpec{.name = "--summarize",
                                        .kind = FlagKind::kSwitch,
                                        .help = "Show tables of the most important fields instead."}});
constexpr auto kListFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--filter",
             .metavar = "EXPRESSION",
             .help = "Print only matching jobs: KEY=VALUE, KEY:VALUE, KEY~REGEX with AND, OR, NOT and "
                     "parentheses."},
    FlagSpec{.name = "--limit",
             .metavar = "LIMIT",
             .help = "Print at most this many jobs.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--page-size",
             .metavar = "SIZE",
             .help = "Start a new table after this many jobs.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--sort-by",
             .metavar = "FIELD,...",
             .help = "Order of the jobs; ~FIELD is descending.",
             .check = CheckList},
    FlagSpec{.name = "--uri", .kind = FlagKind::kSwitch, .help = "Print the address of each job only."}});
constexpr auto kStreamFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--allow-multiline-logs",
             .kind = FlagKind::kSwitch,
             .help = "Do not split messages at their line ends."},
    FlagSpec{.name = "--last",
             .metavar = "COUNT",
             .help = "Print this many of the last entries and exit.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--polling-interval",
             .metavar = "SECONDS",
             .help = "Time between two requests for new entries, if the server does not stream them. "
                     "Default: half a second.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--task-name",
             .metavar = "TASK",
             .help = "Only entries of this replica, master-replica-0 for example."}});
constexpr auto kUpdateFlags = WithCommonFlags(std::array{
    FlagSpec{.name = "--clear-labels", .kind = FlagKind::kSwitch, .help = "Remove all labels first."},
    FlagSpec{.name = "--remove-labels",
             .kind = FlagKind::kAppend,
             .metavar = "KEY,...",
             .help = "Labels to remove.",
             .check = CheckList},
    FlagSpec{.name = "--update-labels",
             .kind = FlagKind::kAppend,
             .metavar = "KEY=VALUE,...",
             .help = "Labels to set.",
             .check = CheckLabels}});

constexpr std::string_view kLabelsExclusive[] = {"--clear-labels", "--remove-labels"};
constexpr FlagGroup kUpdateGroups[] = {{FlagGroup::Rule::kExclusive, kLabelsExclusive}};

const Command kCommands[] = {
    {.spec = {.path = "jobs cancel",
              .summary = "Cancel a running training job.",
              .positional = "JOB",
              .flags = kOnlyCommonFlags,
              .examples = "jobs cancel census_1"},
     .run = CancelJob},
    {.spec = {.path = "jobs delete",
              .summary = "Remove a job that has ended, with its log, figures and trials (administrators).",
              .positional = "JOB",
              .flags = kOnlyCommonFlags,
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
              .summary = "Stop a replica of a job and start it again, as maintenance does.",
              .positional = "JOB",
              .second = "REPLICA",
              .flags = kOnlyCommonFlags,
              .examples = "jobs maintain census_1 worker-replica-0"},
     .run = MaintainJob},
    {.spec = {.path = "jobs shell",
              .summary = "Open a shell in a replica of a running training job.",
              .positional = "JOB",
              .second = "[REPLICA]",
              .flags = kOnlyCommonFlags,
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
              .flags = SubmitTrainingFlags(),
              .groups = SubmitTrainingGroups(),
              .examples = "jobs submit training census_1 --region=us-central1 --package-path=trainer "
                          "--module-name=trainer.task --job-dir=gs://bucket/census_1 -- --epochs=5\n"
                          "jobs submit training census_2 --region=us-central1 "
                          "--master-image-uri=registry.local/census:1 --stream-logs\n"
                          "jobs submit training census_3 --config=config.yaml --labels=owner=ann,stage=test"},
     .run = SubmitTraining},
    {.spec = {.path = "jobs trials",
              .summary = "Show the trials of a hyperparameter tuning job: --format table, csv, json, yaml.",
              .positional = "JOB",
              .flags = kOnlyCommonFlags,
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
};

}  // namespace

std::span<const Command> JobsCommands() { return kCommands; }

}  // namespace trainyard::cli
