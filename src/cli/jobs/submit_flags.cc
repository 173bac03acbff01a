#include "cli/jobs/submit_flags.h"

#include <array>
#include <utility>

#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/flag_values.h"
#include "cli/jobs/staging.h"

namespace trainyard::cli {
namespace {

constexpr FlagSpec kOwnFlags[] = {
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
