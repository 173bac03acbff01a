#include "cli/run/run_request.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/wire/runs_bucket.h"
#include "cli/gcloud/arguments.h"
#include "cli/gcloud/flag_values.h"
#include "cli/run/machine_choice.h"
#include "cli/run/wheel.h"
#include "rules/notices/destination.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kNameLettersMax = 60;

void SetMachine(Json& input, const std::string& role, const RunRequest& request) {
  SetMember(input, role + "Type", JsonString(request.machine_type));
  if (request.gpus == 0) return;
  SetMember(input, role + "Config.acceleratorConfig.type", JsonString(std::string(kRunGpuType)));
  SetMember(input, role + "Config.acceleratorConfig.count", JsonString(std::to_string(request.gpus)));
}

const RunVariable* Find(const std::vector<RunVariable>& variables, const std::string& name) {
  const auto found = std::ranges::find(variables, name, &RunVariable::name);
  return found == variables.end() ? nullptr : &*found;
}

Json Variables(const Json& former, const RerunChanges& changes) {
  Json variables = JsonArray({});
  for (const Json& variable : former.children)
    if (Find(changes.variables, TextAt(variable, "name")) == nullptr) variables.children.push_back(variable);
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
    SetMember(input, "pythonModule", JsonString(std::string(wire::kProgramModule)));
  } else {
    SetMember(input, "masterConfig.imageUri", JsonString(request.image));
  }
  if (!request.runtime_version.empty())
    SetMember(input, "runtimeVersion", JsonString(request.runtime_version));
  if (!request.args.empty()) SetMember(input, "args", JsonArray(request.args));
  SetMember(input, "jobDir", JsonString(request.folder));
  if (!request.passes_job_dir) SetMember(input, "jobDirAsVariable", JsonBool(true));
  if (request.web_access) SetMember(input, "enableWebAccess", JsonBool(true));
  if (!request.max_time.empty()) SetMember(input, "scheduling.maxRunningTime", JsonString(request.max_time));
  if (!request.machine_type.empty()) {
    SetMember(input, "scaleTier", JsonString("CUSTOM"));
    SetMachine(input, "master", request);
    if (request.workers > 0) {
      SetMachine(input, "worker", request);
      SetMember(input, "workerCount", JsonString(std::to_string(request.workers)));
    }
  }
  Json variables = JsonArray({});
  for (const RunVariable& variable : request.variables) variables.children.push_back(VariableJson(variable));
  if (!variables.children.empty()) SetMember(input, "env", std::move(variables));
  Json job = JsonObject({{"jobId", JsonString(request.job_id)}, {"trainingInput", std::move(input)}});
  if (!request.notify.empty())
    SetMember(job, "labels." + std::string(notices::kLabel), JsonString(request.notify));
  return job;
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
  const std::string folder = TextAt(former, "trainingInput.jobDir");
  const std::string former_id = TextAt(former, "jobId");
  const bool is_runs = TextAt(former, "trainingInput.jobDirAsVariable") == "true";
  if (is_runs && folder.ends_with("/" + former_id))
    SetMember(job, "trainingInput.jobDir",
              JsonString(folder.substr(0, folder.size() - former_id.size()) + changes.job_id));
  const Json none = JsonArray({});
  const Json* variables = FindMember(former, "trainingInput.env");
  Json wanted = Variables(variables != nullptr ? *variables : none, changes);
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
