#include "cli/run/run_request.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/wire/runs_bucket.h"
#include "cli/gcloud/arguments.h"
#include "cli/gcloud/flag_values.h"
#include "cli/run/wheel.h"

namespace trainyard::cli {
namespace {

/// Machines of a job that asks for more than the default tier has. GPUs of this type come by 1, 2, 4 and 8;
/// what the server has instead is its business.
constexpr const char* kMachineType = "n1-standard-4";
constexpr const char* kGpuMachineType = "n1-standard-8";
constexpr const char* kGpuType = "NVIDIA_TESLA_V100";
constexpr std::size_t kNameLettersMax = 60;

void SetMachine(Json& input, const std::string& role, const RunRequest& request) {
  SetMember(input, role + "Type", JsonString(request.gpus > 0 ? kGpuMachineType : kMachineType));
  if (request.gpus == 0) return;
  SetMember(input, role + "Config.acceleratorConfig.type", JsonString(kGpuType));
  SetMember(input, role + "Config.acceleratorConfig.count", JsonString(std::to_string(request.gpus)));
}

/// The names of Vertex AI for the places of a job's folder, and the folder itself.
std::vector<RunVariable> FolderVariables(const std::string& folder) {
  if (folder.empty()) return {};
  return {{"TRAINYARD_JOB_DIR", folder},
          {"AIP_MODEL_DIR", folder + "/model/"},
          {"AIP_CHECKPOINT_DIR", folder + "/checkpoints/"},
          {"AIP_TENSORBOARD_LOG_DIR", folder + "/logs/"}};
}

const RunVariable* Find(const std::vector<RunVariable>& variables, const std::string& name) {
  const auto found = std::ranges::find(variables, name, &RunVariable::name);
  return found == variables.end() ? nullptr : &*found;
}

std::string ValueOf(const Json& variables, std::string_view name) {
  for (const Json& variable : variables.children)
    if (TextAt(variable, "name") == name) return TextAt(variable, "value");
  return {};
}

Json Variables(const Json& former, const std::string& former_id, const RerunChanges& changes) {
  const std::string former_folder = ValueOf(former, "TRAINYARD_JOB_DIR");
  const bool is_own = former_folder.ends_with("/" + former_id);
  const std::string folder =
      is_own ? former_folder.substr(0, former_folder.size() - former_id.size()) + changes.job_id
             : former_folder;
  Json variables = JsonArray({});
  for (const Json& variable : former.children) {
    if (Find(changes.variables, TextAt(variable, "name")) != nullptr) continue;
    Json kept = variable;
    const std::string value = TextAt(variable, "value");
    if (is_own && (value == former_folder || value.starts_with(former_folder + "/")))
      SetMember(kept, "value", JsonString(folder + value.substr(former_folder.size())));
    variables.children.push_back(std::move(kept));
  }
  for (const RunVariable& variable : changes.variables) variables.children.push_back(VariableJson(variable));
  return variables;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
}

/// Takes "_DIGITS" of this length away; of any length for 0.
bool TakeNumber(std::string_view& text, std::size_t digits) {
  const std::size_t bar = text.rfind('_');
  if (bar == std::string_view::npos || bar == 0 || !IsDigits(text.substr(bar + 1))) return false;
  if (digits != 0 && text.size() - bar - 1 != digits) return false;
  text = text.substr(0, bar);
  return true;
}

}  // namespace

Json VariableJson(const RunVariable& variable) {
  Json json = JsonObject({{"name", JsonString(variable.name)}});
  if (!variable.value.empty()) SetMember(json, "value", JsonString(variable.value));
  if (variable.secret) SetMember(json, "secret", JsonBool(true));
  return json;
}

Json RunJob(const RunRequest& request) {
  Json input = JsonObject({{"region", JsonString(request.region)}});
  if (request.image.empty()) {
    SetMember(input, "packageUris", JsonArray({request.package_uri}));
    SetMember(input, "pythonModule", JsonString(std::string(kProgramModule)));
  } else {
    SetMember(input, "masterConfig.imageUri", JsonString(request.image));
  }
  if (!request.runtime_version.empty())
    SetMember(input, "runtimeVersion", JsonString(request.runtime_version));
  if (!request.args.empty()) SetMember(input, "args", JsonArray(request.args));
  if (!request.job_dir.empty()) SetMember(input, "jobDir", JsonString(request.job_dir));
  if (request.gpus > 0 || request.workers > 0) {
    SetMember(input, "scaleTier", JsonString("CUSTOM"));
    SetMachine(input, "master", request);
    if (request.workers > 0) {
      SetMachine(input, "worker", request);
      SetMember(input, "workerCount", JsonString(std::to_string(request.workers)));
    }
  }
  Json variables = JsonArray({});
  for (const RunVariable& variable : FolderVariables(request.folder)) {
    const bool is_given =
        std::ranges::find(request.variables, variable.name, &RunVariable::name) != request.variables.end();
    if (!is_given) variables.children.push_back(VariableJson(variable));
  }
  for (const RunVariable& variable : request.variables) variables.children.push_back(VariableJson(variable));
  if (!variables.children.empty()) SetMember(input, "env", std::move(variables));
  return JsonObject({{"jobId", JsonString(request.job_id)}, {"trainingInput", std::move(input)}});
}

std::string RunJobId(std::string_view program, const std::tm& local_time) {
  std::string id;
  for (const char c : program.substr(0, kNameLettersMax)) {
    const bool is_letter = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
    id.push_back(is_letter || ('0' <= c && c <= '9') ? c : '_');
    if (id.size() == 1 && !is_letter) id.insert(0, "job_");
  }
  std::array<char, 32> stamp{};
  const std::size_t size = std::strftime(stamp.data(), stamp.size(), "_%Y%m%d_%H%M%S", &local_time);
  return (id.empty() ? "job" : id) + std::string(stamp.data(), size);
}

std::string RunsBucket(std::string_view project) {
  std::string bucket = wire::RunsBucketOf(project);
  return CheckBucketName(bucket) ? bucket : "trainyard-runs";
}

Result<RunVariable> ParseVariable(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return std::unexpected(UsageError("--env", "`" + text + "` is not NAME=VALUE"));
  return RunVariable{text.substr(0, equals), text.substr(equals + 1)};
}

Json RerunJob(const Json& former, const RerunChanges& changes) {
  Json job = JsonObject({{"jobId", JsonString(changes.job_id)}});
  if (const Json* labels = FindMember(former, "labels")) SetMember(job, "labels", *labels);
  const Json* input = FindMember(former, "trainingInput");
  SetMember(job, "trainingInput", input != nullptr ? *input : JsonObject());
  if (changes.args) {
    const bool of_image = FindMember(job, "trainingInput.masterConfig.containerArgs") != nullptr;
    SetMember(job, of_image ? "trainingInput.masterConfig.containerArgs" : "trainingInput.args",
              JsonArray(*changes.args));
  }
  const Json none = JsonArray({});
  const Json* variables = FindMember(former, "trainingInput.env");
  Json wanted = Variables(variables != nullptr ? *variables : none, TextAt(former, "jobId"), changes);
  if (!wanted.children.empty()) SetMember(job, "trainingInput.env", std::move(wanted));
  return job;
}

std::vector<std::string> MissingSecrets(const Json& former, const std::vector<RunVariable>& variables) {
  std::vector<std::string> missing;
  const Json* known = FindMember(former, "trainingInput.env");
  if (known == nullptr) return missing;
  for (const Json& variable : known->children) {
    const std::string name = TextAt(variable, "name");
    if (TextAt(variable, "secret") == "true" && Find(variables, name) == nullptr) missing.push_back(name);
  }
  return missing;
}

std::string RerunJobId(std::string_view former_id, const std::tm& local_time) {
  constexpr std::size_t kDateDigits = 8;
  constexpr std::size_t kTimeDigits = 6;
  std::string_view name = former_id;
  if (TakeNumber(name, kTimeDigits) && TakeNumber(name, kDateDigits)) return RunJobId(name, local_time);
  name = former_id;  // "train_20261123_101502_2": two runs of one second
  if (TakeNumber(name, 0) && TakeNumber(name, kTimeDigits) && TakeNumber(name, kDateDigits))
    return RunJobId(name, local_time);
  return RunJobId(former_id, local_time);
}

}  // namespace trainyard::cli
