#include "cli/jobs/job_request.h"

#include <algorithm>
#include <utility>

namespace trainyard::cli {
namespace {

void SetIf(Json& job, const char* path, const std::optional<std::string>& value) {
  if (value) SetMember(job, path, JsonString(*value));
}

void Remove(Json& object, const char* name) {
  std::erase_if(object.children, [name](const Json& member) { return member.name == name; });
}

void SetReplica(Json& job, const std::string& kind, const ReplicaFlags& flags) {
  auto path = [&kind](const char* rest) { return "trainingInput." + kind + rest; };
  SetIf(job, path("Type").c_str(), flags.machine_type);
  SetIf(job, path("Count").c_str(), flags.count);
  SetIf(job, path("Config.imageUri").c_str(), flags.image_uri);
  SetIf(job, path("Config.tpuTfVersion").c_str(), flags.tpu_tf_version);
  if (!flags.accelerator) return;
  SetMember(job, path("Config.acceleratorConfig.type"), JsonString(flags.accelerator->type));
  SetMember(job, path("Config.acceleratorConfig.count"), JsonString(flags.accelerator->count));
}

}  // namespace

Status CheckCustomServer(const JobFlags& flags, const Json& config) {
  if (flags.master.image_uri && flags.runtime_version)
    return std::unexpected(
        InvalidArgument("", "Only one of --master-image-uri, --runtime-version can be set."));
  // The file's tier counts only in the flag's spelling, because gcloud compares it with the flag's choices.
  bool custom = flags.scale_tier ? *flags.scale_tier == "CUSTOM"
                                 : TextAt(config, "trainingInput.scaleTier") == "custom";
  if (custom && !flags.master.machine_type)
    return std::unexpected(
        InvalidArgument("", "--master-machine-type is required if scale-tier is set to `CUSTOM`."));
  return {};
}

Result<Json> BuildJob(const Json& config, const JobFlags& flags) {
  Json job = config.kind == Json::Kind::kNull ? JsonObject() : config;
  SetMember(job, "jobId", JsonString(flags.job_id));
  if (flags.labels) {
    Json labels = JsonObject();
    for (const auto& [key, value] : *flags.labels) {
      Json label = JsonString(value);
      label.name = key;
      labels.children.push_back(std::move(label));
    }
    SetMember(job, "labels", std::move(labels));
  }
  SetIf(job, "trainingInput.pythonModule", flags.module_name);
  if (flags.user_args) SetMember(job, "trainingInput.args", JsonArray(*flags.user_args));
  SetMember(job, "trainingInput.packageUris", JsonArray(flags.package_uris));
  SetMember(job, "trainingInput.region", JsonString(flags.region));
  SetIf(job, "trainingInput.jobDir", flags.job_dir);
  SetIf(job, "trainingInput.scaleTier", flags.scale_tier);
  SetIf(job, "trainingInput.runtimeVersion", flags.runtime_version);
  SetIf(job, "trainingInput.pythonVersion", flags.python_version);
  SetIf(job, "trainingInput.network", flags.network);
  SetIf(job, "trainingInput.serviceAccount", flags.service_account);
  SetMember(job, "trainingInput.enableWebAccess", JsonBool(flags.enable_web_access));
  SetIf(job, "trainingInput.encryptionConfig.kmsKeyName", flags.kms_key_name);
  SetReplica(job, "master", flags.master);
  SetReplica(job, "worker", flags.worker);
  SetReplica(job, "parameterServer", flags.parameter_server);
  if (flags.use_chief_in_tf_config)
    SetMember(job, "trainingInput.useChiefInTfConfig", JsonBool(*flags.use_chief_in_tf_config));
  if (flags.package_uris.empty()) {
    if (TextAt(job, "trainingInput.masterConfig.imageUri").empty())
      return std::unexpected(InvalidArgument("", "Non-custom jobs must have packages."));
    Remove(*const_cast<Json*>(FindMember(job, "trainingInput")), "packageUris");
  }
  return Sorted(job);
}

std::optional<Labels> ApplyLabels(const Labels& labels, const LabelsUpdate& update) {
  Labels updated = update.clear ? Labels{} : labels;
  for (const auto& [key, value] : update.set) updated[key] = value;
  for (const std::string& key : update.remove) updated.erase(key);
  if (updated == labels) return std::nullopt;
  return updated;
}

}  // namespace trainyard::cli
