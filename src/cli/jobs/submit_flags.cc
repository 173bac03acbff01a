#include "cli/jobs/submit_flags.h"

#include <array>
#include <utility>

#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/jobs/staging.h"

namespace trainyard::cli {
namespace {

constexpr std::array kOwnFlags{
    FlagSpec{.name = "--async",
             .kind = FlagKind::kSwitch,
             .help = "(DEPRECATED) Do not wait for the job. The default; --stream-logs waits."},
    FlagSpec{.name = "--config",
             .metavar = "CONFIG",
             .help = "YAML or JSON file with a Job resource; flags override its fields."},
    FlagSpec{.name = "--enable-web-access",
             .kind = FlagKind::kSwitch,
             .help = "Allow interactive shells in the replicas."},
    FlagSpec{.name = "--job-dir",
             .metavar = "JOB_DIR",
             .help = "gs:// path for the job's output, passed to the program as --job-dir. Packages are "
                     "uploaded below it if --staging-bucket is not given.",
             .check = CheckJobDir},
    FlagSpec{
        .name = "--kms-key", .metavar = "KMS_KEY", .help = "Key that protects the job, or its full name."},
    FlagSpec{.name = "--kms-keyring", .metavar = "KMS_KEYRING", .help = "Key ring of the key."},
    FlagSpec{.name = "--kms-location", .metavar = "KMS_LOCATION", .help = "Location of the key."},
    FlagSpec{.name = "--kms-project", .metavar = "KMS_PROJECT", .help = "Project of the key."},
    FlagSpec{.name = "--labels",
             .kind = FlagKind::kAppend,
             .metavar = "KEY=VALUE,...",
             .help = "Labels of the job.",
             .check = CheckLabels},
    FlagSpec{.name = "--master-accelerator",
             .metavar = "type=TYPE,count=COUNT",
             .help = "Accelerators of the master.",
             .check = CheckAccelerator},
    FlagSpec{.name = "--master-image-uri",
             .metavar = "IMAGE",
             .help = "Container image of the master; not together with --runtime-version."},
    FlagSpec{.name = "--master-machine-type",
             .metavar = "TYPE",
             .help = "Machine type of the master; needed with --scale-tier=custom."},
    FlagSpec{.name = "--module-name", .metavar = "MODULE", .help = "Python module to run."},
    FlagSpec{.name = "--network",
             .metavar = "NETWORK",
             .help = "projects/P/global/networks/N to which the job is peered.",
             .beta = true},
    FlagSpec{.name = "--package-path",
             .metavar = "PATH",
             .help = "Directory of a Python package. It is built with the setup.py next to it, or with a "
                     "generated one."},
    FlagSpec{.name = "--packages",
             .metavar = "PACKAGE,...",
             .help = "Archives to install: local files, which are uploaded, or gs:// paths.",
             .check = CheckList},
    FlagSpec{.name = "--parameter-server-accelerator",
             .metavar = "type=TYPE,count=COUNT",
             .help = "Accelerators of each parameter server.",
             .check = CheckAccelerator},
    FlagSpec{.name = "--parameter-server-count",
             .metavar = "COUNT",
             .help = "Number of parameter servers.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--parameter-server-image-uri",
             .metavar = "IMAGE",
             .help = "Container image of the parameter servers. Default: the master's."},
    FlagSpec{.name = "--parameter-server-machine-type",
             .metavar = "TYPE",
             .help = "Machine type of the parameter servers."},
    FlagSpec{.name = "--python-version",
             .metavar = "VERSION",
             .help = "Python version that the runtime version must have."},
    FlagSpec{.name = "--region",
             .metavar = "REGION",
             .help = "Region of the job. Default: CLOUDSDK_COMPUTE_REGION or gcloud's compute/region."},
    FlagSpec{
        .name = "--runtime-version", .metavar = "VERSION", .help = "Runtime version that the program needs."},
    FlagSpec{.name = "--scale-tier",
             .metavar = "basic|basic-gpu|basic-tpu|custom|premium-1|standard-1",
             .help = "The replicas of the job.",
             .check = CheckScaleTier},
    FlagSpec{.name = "--service-account",
             .metavar = "ACCOUNT",
             .help = "Service account that the program runs as.",
             .check = CheckServiceAccount},
    FlagSpec{.name = "--staging-bucket",
             .metavar = "BUCKET",
             .help = "gs:// bucket that packages are uploaded to.",
             .check = CheckStagingBucket},
    FlagSpec{.name = "--stream-logs",
             .kind = FlagKind::kSwitch,
             .help = "Show the job's log until it ends. Ctrl-C ends only this command."},
    FlagSpec{.name = "--tpu-tf-version",
             .metavar = "VERSION",
             .help = "TensorFlow version of the TPU workers.",
             .beta = true},
    FlagSpec{.name = "--use-chief-in-tf-config",
             .metavar = "true|false",
             .help = "Call the master \"chief\" in TF_CONFIG.",
             .check = CheckBoolean},
    FlagSpec{.name = "--worker-accelerator",
             .metavar = "type=TYPE,count=COUNT",
             .help = "Accelerators of each worker.",
             .check = CheckAccelerator},
    FlagSpec{.name = "--worker-count",
             .metavar = "COUNT",
             .help = "Number of workers.",
             .check = CheckPositiveInteger},
    FlagSpec{.name = "--worker-image-uri",
             .metavar = "IMAGE",
             .help = "Container image of the workers. Default: the master's."},
    FlagSpec{.name = "--worker-machine-type", .metavar = "TYPE", .help = "Machine type of the workers."},
};
constexpr auto kFlags = WithCommonFlags(kOwnFlags);

constexpr std::string_view kSync[] = {"--async", "--stream-logs"};
constexpr std::string_view kKms[] = {"--kms-key", "--kms-keyring", "--kms-location", "--kms-project"};
constexpr std::string_view kParameterServers[] = {"--parameter-server-count",
                                                  "--parameter-server-machine-type"};
constexpr std::string_view kWorkers[] = {"--worker-count", "--worker-machine-type"};
constexpr FlagGroup kGroups[] = {{FlagGroup::Rule::kExclusive, kSync},
                                 {FlagGroup::Rule::kFirstNeeded, kKms},
                                 {FlagGroup::Rule::kAllOrNone, kParameterServers},
                                 {FlagGroup::Rule::kAllOrNone, kWorkers}};

Result<std::optional<AcceleratorFlag>> ReadAccelerator(const Arguments& arguments, std::string_view flag) {
  std::optional<std::string> value = arguments.Value(flag);
  if (!value) return std::nullopt;
  TY_TRY(auto pairs, SplitPairs(*value));
  AcceleratorFlag accelerator;
  for (auto& [key, text] : pairs) {
    if (key == "type") accelerator.type = EnumName(text);
    if (key == "count") accelerator.count = text;
  }
  return accelerator;
}

Result<ReplicaFlags> ReadReplica(const Arguments& arguments, const std::string& prefix) {
  ReplicaFlags flags{.machine_type = arguments.Value(prefix + "-machine-type"),
                     .count = arguments.Value(prefix + "-count"),
                     .image_uri = arguments.Value(prefix + "-image-uri")};
  TY_TRY(flags.accelerator, ReadAccelerator(arguments, prefix + "-accelerator"));
  return flags;
}

Result<std::optional<std::map<std::string, std::string>>> ReadLabels(const Arguments& arguments) {
  auto flag = arguments.flags.find("--labels");
  if (flag == arguments.flags.end()) return std::nullopt;
  std::map<std::string, std::string> labels;
  for (const std::string& value : flag->second) {
    TY_TRY(auto pairs, SplitPairs(value));
    for (auto& [key, text] : pairs) labels[key] = text;
  }
  return labels;
}

}  // namespace

std::span<const FlagSpec> SubmitTrainingFlags() { return kFlags; }

std::span<const FlagGroup> SubmitTrainingGroups() { return kGroups; }

Result<JobFlags> ReadJobFlags(const Arguments& arguments, const std::string& project) {
  JobFlags flags;
  flags.job_id = arguments.positionals.front();
  flags.module_name = arguments.Value("--module-name");
  if (auto job_dir = arguments.Value("--job-dir")) flags.job_dir = NormalJobDir(*job_dir);
  if (auto tier = arguments.Value("--scale-tier")) flags.scale_tier = EnumName(*tier);
  flags.runtime_version = arguments.Value("--runtime-version");
  flags.python_version = arguments.Value("--python-version");
  flags.network = arguments.Value("--network");
  flags.service_account = arguments.Value("--service-account");
  if (auto chief = arguments.Value("--use-chief-in-tf-config")) flags.use_chief_in_tf_config = IsTrue(*chief);
  flags.enable_web_access = arguments.IsOn("--enable-web-access");
  if (arguments.passthrough && !arguments.passthrough->empty()) flags.user_args = arguments.passthrough;
  TY_TRY(flags.labels, ReadLabels(arguments));
  TY_TRY(flags.master, ReadReplica(arguments, "--master"));
  TY_TRY(flags.worker, ReadReplica(arguments, "--worker"));
  TY_TRY(flags.parameter_server, ReadReplica(arguments, "--parameter-server"));
  flags.worker.tpu_tf_version = arguments.Value("--tpu-tf-version");
  KmsFlags kms{arguments.Value("--kms-key"), arguments.Value("--kms-keyring"),
               arguments.Value("--kms-location"), arguments.Value("--kms-project").value_or(project)};
  TY_TRY(flags.kms_key_name, KmsKeyName(kms));
  return flags;
}

}  // namespace trainyard::cli
