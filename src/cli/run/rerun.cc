#include "cli/run/rerun.h"

#include <algorithm>
#include <utility>

namespace trainyard::cli {
namespace {

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
