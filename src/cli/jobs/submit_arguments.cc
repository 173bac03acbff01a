#include "cli/jobs/submit_arguments.h"

#include <utility>

#include "cli/gcloud/flag_values.h"
#include "cli/jobs/staging.h"

namespace trainyard::cli {
namespace {

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
