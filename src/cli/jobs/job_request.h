#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

struct AcceleratorFlag {
  std::string type;   ///< as the API spells it: NVIDIA_TESLA_T4
  std::string count;  ///< decimal
  friend bool operator==(const AcceleratorFlag&, const AcceleratorFlag&) = default;
};

/// The flags of one kind of replica.
struct ReplicaFlags {
  std::optional<std::string> machine_type;
  std::optional<std::string> count;  ///< workers and parameter servers
  std::optional<std::string> image_uri;
  std::optional<AcceleratorFlag> accelerator;
  std::optional<std::string> tpu_tf_version;  ///< workers
};

/// The flags of `jobs submit training` that describe the job. If one is absent, the configuration file
/// decides.
struct JobFlags {
  std::string job_id;
  std::string region;
  std::vector<std::string> package_uris;  ///< from --packages and --package-path
  std::optional<std::string> module_name;
  std::optional<std::string> job_dir;     ///< gs://bucket/object
  std::optional<std::string> scale_tier;  ///< as the API spells it
  std::optional<std::string> runtime_version;
  std::optional<std::string> python_version;
  std::optional<std::string> network;
  std::optional<std::string> service_account;
  std::optional<std::string> kms_key_name;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<std::vector<std::string>> user_args;
  std::optional<bool> use_chief_in_tf_config;
  bool enable_web_access = false;
  ReplicaFlags master;
  ReplicaFlags worker;
  ReplicaFlags parameter_server;
};

/// Rules that gcloud checks before it uploads anything: an image and a runtime version exclude each other;
/// the tier CUSTOM (by flag, or in lower case in the file) needs --master-machine-type. The messages are
/// gcloud's. `config` is the configuration file's document, or null. Pure: any thread.
[[nodiscard]] Status CheckCustomServer(const JobFlags& flags, const Json& config);

/// The Job that is sent: the configuration file's document, overridden by the given flags. Some fields always
/// come from the command line: jobId, region, packageUris (empty without packages) and enableWebAccess.
/// `config`: of FitConfig, or null. kInvalidArgument: "Non-custom jobs must have packages."
/// (gcloud's words). Pure: any thread. Source: gcloud's BuildTrainingJob, docs/spec "precedence".
[[nodiscard]] Result<Json> BuildJob(const Json& config, const JobFlags& flags);

using Labels = std::map<std::string, std::string>;

/// What `jobs update` asks for.
struct LabelsUpdate {
  bool clear = false;
  Labels set;
  std::vector<std::string> remove;
};

/// The labels after clearing, setting and removing, in this order; nothing if they do not change. Pure: any
/// thread.
[[nodiscard]] std::optional<Labels> ApplyLabels(const Labels& labels, const LabelsUpdate& update);

}  // namespace trainyard::cli
