#include "cli/local/local_commands.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/wire/json.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/images/images_folder.h"
#include "cli/local/runtimes_folder.h"
#include "engine/local/machine_checks.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/built_runtime.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/image_python.h"
#include "programs/environment/layout.h"
#include "programs/environment/python_probe.h"
#include "programs/environment/runtime_builder.h"
#include "programs/environment/runtime_list.h"
#include "programs/environment/site_hook.h"
#include "programs/image/cache.h"
#include "programs/image/image.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;
using environment::AvailablePythons;
using environment::RuntimeVersion;

/// A runtime version or a tool.
Result<RuntimeVersion> Load(const fs::path& environments, const std::string& name) {
  auto runtime = environment::LoadRuntimeVersion(environments, name);
  if (runtime || runtime.error().code != Code::kNotFound) return runtime;
  if (auto tool = environment::LoadTool(environments, name)) return tool;
  return std::unexpected(
      NotFound("There is no runtime version [" + name + "]. To list the versions: trainyard runtimes list"));
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

ExitStatus DescribeRuntime(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const fs::path environments = FindEnvironmentsDir(session.arguments, session.sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, session.arguments.positionals.front()));
  const control::v1::Runtime shown =
      environment::DescribeRuntime(environments, runtime, environment::ProbePythons(environments));
  TY_TRY(Json json, wire::ParseJsonTree(wire::PrintJson(shown)));
  SetMember(json, "locked", JsonBool(runtime.locked));
  SetMember(json, "packages", JsonArray(runtime.packages));
  if (!runtime.tools.empty()) SetMember(json, "tools", JsonArray(runtime.tools));
  session.console.Out(PrintResource(Sorted(json), format));
  return 0;
}

ExitStatus InstallRuntime(const LocalSession& session) {
  const fs::path environments = FindEnvironmentsDir(session.arguments, session.sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, session.arguments.positionals.front()));
  const environment::Layout layout{environments};
  const auto say = [&](std::string_view line) { session.console.Status(std::string(line) + "\n"); };
  if (environment::IsComplete(layout.Runtime(runtime))) {
    say(runtime.version + " is installed already.");
    return 0;
  }
  TY_RETURN_IF_ERROR(MakeFolders(environments.parent_path(), 0700));  // the data directory
  TY_RETURN_IF_ERROR(MakeFolders(environments));
  const engine::BuildTools tools =
      engine::FindBuildTools({FindDataDir(session.arguments, session.sources).string()});
  if (!tools.missing.empty()) say(tools.missing);
  const environment::PreparationHooks hooks{
      .info = say, .error = say, .download = {}, .isolation = tools.isolation.get()};
  TY_RETURN_IF_ERROR(EnsurePython(environments, runtime, session.arguments, session.sources, hooks));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(environments));
  TY_RETURN_IF_ERROR(environment::BuildRuntime(layout, runtime, hooks));
  return 0;
}

ExitStatus RemoveRuntime(const LocalSession& session) {
  const fs::path environments = FindEnvironmentsDir(session.arguments, session.sources);
  TY_TRY(const RuntimeVersion runtime, Load(environments, session.arguments.positionals.front()));
  TY_TRY(const std::uint64_t bytes, environment::RemoveBuilt(environments, runtime));
  session.console.Status("Removed " + runtime.version + " (" +
                         image::PrintBytes(static_cast<std::int64_t>(bytes)) + ").\n");
  return 0;
}

}  // namespace trainyard::cli
