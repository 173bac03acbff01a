#include "programs/environment/runtime_list.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/environment/built_runtime.h"

namespace trainyard::environment {

namespace {

std::string StateOf(const std::filesystem::path& environments_dir, const RuntimeVersion& runtime,
                    const AvailablePythons& available) {
  if (IsBeingBuilt(environments_dir, runtime)) return "being built";
  const std::string missing = MissingFor(runtime, available);
  return missing.empty() ? "can be built" : "needs " + missing;
}

/// All tools of the versions, each once, in the order of the versions that refer to them.
std::vector<std::string> ToolsOf(const Catalogue& catalogue) {
  std::vector<std::string> tools;
  for (const RuntimeVersion& runtime : catalogue.versions())
    for (const std::string& tool : runtime.tools)
      if (std::ranges::find(tools, tool) == tools.end()) tools.push_back(tool);
  return tools;
}

}  // namespace

control::v1::Runtime DescribeRuntime(const std::filesystem::path& environments_dir,
                                     const RuntimeVersion& runtime, const AvailablePythons& available) {
  control::v1::Runtime shown;
  shown.set_version(runtime.version);
  shown.mutable_pythons()->Assign(runtime.pythons.begin(), runtime.pythons.end());
  shown.set_released(runtime.released);
  shown.set_notes(runtime.notes);
  shown.set_gpu_variant(runtime.gpu_variant);
  const std::optional<BuiltRuntime> built = FindBuilt(environments_dir, runtime);
  if (!built) {
    shown.set_state(StateOf(environments_dir, runtime, available));
    return shown;
  }
  shown.set_state("built");
  shown.set_python(built->python);
  shown.set_folder(built->folder.string());
  shown.set_size_bytes(static_cast<std::int64_t>(built->bytes));
  shown.set_package_layers(static_cast<std::int32_t>(built->layers.size()));
  if (built->last_use)
    shown.mutable_last_use()->set_seconds(std::chrono::system_clock::to_time_t(*built->last_use));
  return shown;
}

control::v1::RuntimeList ListRuntimes(const std::filesystem::path& environments_dir,
                                      const Catalogue& catalogue, std::string_view default_version,
                                      const AvailablePythons& available) {
  control::v1::RuntimeList list;
  for (const RuntimeVersion& runtime : catalogue.versions()) {
    control::v1::Runtime& shown = *list.add_runtimes();
    shown = DescribeRuntime(environments_dir, runtime, available);
    shown.set_is_default(runtime.version == default_version);
  }
  for (const std::string& name : ToolsOf(catalogue))
    if (const auto tool = LoadTool(environments_dir, name))
      *list.add_runtimes() = DescribeRuntime(environments_dir, *tool, available);
  return list;
}

}  // namespace trainyard::environment
