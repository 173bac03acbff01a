#include "cli/local/local_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "async/file.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "cli/images/images_folder.h"
#include "engine/local/machine_checks.h"
#include "environment/build_folder.h"
#include "environment/built_runtime.h"
#include "environment/catalogue.h"
#include "environment/image_python.h"
#include "environment/layout.h"
#include "environment/python_probe.h"
#include "environment/runtime_builder.h"
#include "environment/site_hook.h"
#include "image/image.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;
using environment::AvailablePythons;
using environment::BuiltRuntime;
using environment::RuntimeVersion;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

fs::path DataDir(const Arguments& arguments, const SettingSources& sources) {
  return fs::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources))).lexically_normal();
}

fs::path EnvironmentsDir(const Arguments& arguments, const SettingSources& sources) {
  // Absolute and without links, as in the server: scripts of an environment contain this path of their
  // interpreter.
  const fs::path folder = DataDir(arguments, sources) / "environments";
  std::error_code error;
  const fs::path resolved = fs::canonical(folder, error);
  return error ? folder : resolved;
}

/// A runtime version or a tool.
Result<RuntimeVersion> Load(const fs::path& environments, const std::string& name) {
  auto runtime = environment::LoadRuntimeVersion(environments, name);
  if (runtime || runtime.error().code != Code::kNotFound) return runtime;
  if (auto tool = environment::LoadTool(environments, name)) return tool;
  return std::unexpected(
      NotFound("There is no runtime version [" + name + "]. To list the versions: trainyard runtimes list"));
}

/// What is printed about a version.
struct Shown {
  RuntimeVersion runtime;
  std::optional<BuiltRuntime> built;
  std::string state;
};

Shown Look(const fs::path& environments, RuntimeVersion runtime, const AvailablePythons& available) {
  Shown shown{.runtime = std::move(runtime), .built = {}, .state = {}};
  shown.built = environment::FindBuilt(environments, shown.runtime);
  const std::string missing = environment::MissingFor(shown.runtime, available);
  if (shown.built) {
    shown.state = "built";
  } else if (environment::IsBeingBuilt(environments, shown.runtime)) {
    shown.state = "being built";
  } else if (missing.empty()) {
    shown.state = "can be built";
  } else {
    shown.state = "needs " + missing;
  }
  return shown;
}

std::string PrintSize(std::uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
  return text.data();
}

std::string PrintUtc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : ",") + word;
  return joined;
}

Json ToJson(const Shown& shown, bool full) {
  const RuntimeVersion& runtime = shown.runtime;
  Json json = JsonObject();
  SetMember(json, "version", JsonString(runtime.version));
  SetMember(json, "pythons", JsonArray(runtime.pythons));
  SetMember(json, "state", JsonString(shown.state));
  if (!runtime.released.empty()) SetMember(json, "released", JsonString(runtime.released));
  if (!runtime.notes.empty()) SetMember(json, "notes", JsonString(runtime.notes));
  if (!runtime.gpu_variant.empty()) SetMember(json, "gpuVariant", JsonString(runtime.gpu_variant));
  if (full) {
    SetMember(json, "locked", JsonBool(runtime.locked));
    SetMember(json, "packages", JsonArray(runtime.packages));
    if (!runtime.tools.empty()) SetMember(json, "tools", JsonArray(runtime.tools));
  }
  if (!shown.built) return json;
  SetMember(json, "python", JsonString(shown.built->python));
  SetMember(json, "folder", JsonString(shown.built->folder.string()));
  SetMember(json, "sizeBytes", JsonNumber(std::to_string(shown.built->bytes)));
  SetMember(json, "packageLayers", JsonNumber(std::to_string(shown.built->layers.size())));
  if (shown.built->last_use) SetMember(json, "lastUse", JsonString(PrintUtc(*shown.built->last_use)));
  return json;
}

/// The versions for jobs, then the tools that they refer to.
Result<std::vector<RuntimeVersion>> All(const fs::path& environments) {
  TY_TRY(const environment::Catalogue catalogue, environment::Catalogue::Load(environments));
  std::vector<RuntimeVersion> all = catalogue.versions();
  std::vector<std::string> tools;
  for (const RuntimeVersion& runtime : all)
    for (const std::string& tool : runtime.tools)
      if (std::ranges::find(tools, tool) == tools.end()) tools.push_back(tool);
  for (const std::string& name : tools)
    if (auto tool = environment::LoadTool(environments, name)) all.push_back(*std::move(tool));
  return all;
}

constexpr std::chrono::minutes kResolveTimeout{2};

/// The image, pulled into the data directory as a job's would be.
Result<environment::PythonImage> PullImage(const std::string& name, const Arguments& arguments,
                                           const SettingSources& sources,
                                           const environment::PreparationHooks& hooks) {
  const image::Sources image_sources = SourcesOf(FindImagesFolder(arguments, sources), arguments);
  TY_TRY(const image::ResolvedImage resolved, image::ResolveImage(image_sources, name, kResolveTimeout));
  TY_TRY(image::Image pulled, image::PullImage(image_sources, resolved, {.info = hooks.info}));
  environment::PythonImage python{.name = name,
                                  .digest = std::move(pulled.digest),
                                  .layers = {pulled.layers.begin(), pulled.layers.end()},
                                  .search_path = {}};
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& variable : pulled.config.environment) {
    if (!variable.starts_with(kPath)) continue;
    std::istringstream folders(variable.substr(kPath.size()));
    for (std::string folder; std::getline(folders, folder, ':');) python.search_path.emplace_back(folder);
  }
  return python;
}

/// What jobs that name it get, for a message.
std::string Instead(const fs::path& environments, const RuntimeVersion& runtime,
                    const AvailablePythons& available) {
  const auto catalogue = environment::Catalogue::Load(environments);
  if (!catalogue || catalogue->Find(runtime.version) == nullptr) return {};
  const auto nearest =
      catalogue->Resolve(runtime.version, {}, environment::FallbackPolicy::kNearest, available);
  return nearest ? ". Jobs that name it run with runtime version " + nearest->version + " (Python " +
                       nearest->python + ")"
                 : std::string();
}

/// The Python that a version needs: from an image if one is named, else through uv. Nothing can install
/// packages of the system.
Status EnsurePython(const fs::path& environments, const RuntimeVersion& runtime, const Arguments& arguments,
                    const SettingSources& sources, const environment::PreparationHooks& hooks) {
  const AvailablePythons available = environment::ProbePythons(environments);
  const std::string missing = environment::MissingFor(runtime, available);
  const auto image = arguments.Value("--from-image");
  if (missing.empty()) {
    if (image) hooks.info("The image is not needed: this machine has a Python for " + runtime.version + ".");
    return {};
  }
  const std::string needs = runtime.version + " needs " + missing;
  const std::string command = environment::CommandFor(runtime);
  if (command.empty())
    return std::unexpected(FailedPrecondition(needs + Instead(environments, runtime, available) + "."));
  std::vector<std::string> wanted = runtime.pythons;
  std::erase_if(wanted, [](const std::string& python) {
    return environment::ParseMajorMinor(python) < environment::kPythonMin;
  });
  if (image) {
    TY_TRY(const environment::PythonImage python, PullImage(std::string(*image), arguments, sources, hooks));
    return environment::TakePythonFromImage({environments}, python, wanted, hooks);
  }
  const Status had = environment::DownloadPython(environments, wanted.back(), hooks);
  if (had) return {};
  return std::unexpected(Error{had.error().code,
                               needs + ", and it cannot be downloaded: " + had.error().message +
                                   ". Take it from a container image: " + command,
                               {}});
}

}  // namespace

ExitStatus ListRuntimes(const Arguments& arguments, const SettingSources& sources, const Console& console) {
  TY_TRY(const OutputFormat format, ParseOutputFormat(arguments.Value("--format")));
  const fs::path environments = EnvironmentsDir(arguments, sources);
  TY_TRY(std::vector<RuntimeVersion> all, All(environments));
  const AvailablePythons available = environment::ProbePythons(environments);
  Rows rows{{"VERSION", "PYTHON", "SIZE", "LAST_USE", "STATE"}};
  std::vector<Json> resources;
  for (RuntimeVersion& runtime : all) {
    const Shown shown = Look(environments, std::move(runtime), available);
    resources.push_back(ToJson(shown, false));
    const bool built = shown.built.has_value();
    rows.push_back(
        {shown.runtime.version, built ? shown.built->python : Joined(shown.runtime.pythons),
         built ? PrintSize(shown.built->bytes) : "",
         built && shown.built->last_use ? LocalTime(PrintUtc(*shown.built->last_use), kDateFormat) : "",
         shown.state});
  }
  const bool table = format.kind == OutputFormat::Kind::kDefault;
  if (table)
    console.Table(rows);
  else
    console.Out(PrintResources(resources, format));
  const auto server = ReadServerNote(sources, DataDir(arguments, sources).string());
  if (table && server && !server->lacking.empty()) console.Warn(server->lacking + ".");
  return 0;
}

ExitStatus DescribeRuntime(const Arguments& arguments, const SettingSources& sources,
                           const Console& console) {
  TY_TRY(const OutputFormat format, ParseOutputFormat(arguments.Value("--format")));
  const fs::path environments = EnvironmentsDir(arguments, sources);
  TY_TRY(RuntimeVersion runtime, Load(environments, arguments.positionals.front()));
  const Shown shown = Look(environments, std::move(runtime), environment::ProbePythons(environments));
  console.Out(PrintResource(Sorted(ToJson(shown, true)), format));
  return 0;
}

ExitStatus InstallRuntime(const Arguments& arguments, const SettingSources& sources, const Console& console) {
  const fs::path environments = EnvironmentsDir(arguments, sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, arguments.positionals.front()));
  const environment::Layout layout{environments};
  const auto say = [&](std::string_view line) { console.Status(std::string(line) + "\n"); };
  if (environment::IsComplete(layout.Runtime(runtime))) {
    say(runtime.version + " is installed already.");
    return 0;
  }
  TY_RETURN_IF_ERROR(MakeFolders(environments.parent_path(), 0700));  // the data directory
  TY_RETURN_IF_ERROR(MakeFolders(environments));
  const engine::BuildTools tools = engine::FindBuildTools({DataDir(arguments, sources).string()});
  if (!tools.missing.empty()) say(tools.missing);
  const environment::PreparationHooks hooks{
      .info = say, .error = say, .download = {}, .isolation = tools.isolation.get()};
  TY_RETURN_IF_ERROR(EnsurePython(environments, runtime, arguments, sources, hooks));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(environments));
  TY_RETURN_IF_ERROR(environment::BuildRuntime(layout, runtime, hooks));
  return 0;
}

ExitStatus RemoveRuntime(const Arguments& arguments, const SettingSources& sources, const Console& console) {
  const fs::path environments = EnvironmentsDir(arguments, sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, arguments.positionals.front()));
  TY_TRY(const std::uint64_t bytes, environment::RemoveBuilt(environments, runtime));
  console.Status("Removed " + runtime.version + " (" + PrintSize(bytes) + ").\n");
  return 0;
}

}  // namespace trainyard::cli
