#include "programs/environment/environment.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "programs/environment/algorithm_package.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/layout.h"
#include "programs/environment/package_layer.h"
#include "programs/environment/runtime_builder.h"
#include "programs/environment/site_hook.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

/// The value of LD_LIBRARY_PATH; empty: the version needs none.
std::string LibraryPath(const RuntimeVersion& runtime, const fs::path& folder) {
  if (runtime.library_folders.empty()) return {};
  const Result<std::string> python = ReadFile(Layout::Marker(folder));
  std::string path;
  for (const std::string& below : runtime.library_folders)
    path += (path.empty() ? "" : ":") + (Layout::SitePackages(folder, python.value_or("")) / below).string();
  return path;
}

Environment MakeEnvironment(const Layout& layout, const RuntimeVersion& version, const fs::path& layer,
                            bool algorithms) {
  const fs::path runtime = layout.Runtime(version);
  const fs::path& top = layer.empty() ? runtime : layer;
  Environment environment;
  environment.python = Layout::Interpreter(top);
  environment.layer = layer;
  environment.variables["PATH"] = layer.empty() ? (runtime / "bin").string()
                                                : (layer / "bin").string() + ":" + (runtime / "bin").string();
  environment.variables["VIRTUAL_ENV"] = top;
  environment.variables["PYTHONPATH"] =
      layout.Site().string() + (algorithms ? ":" + AlgorithmFolder(layout).string() : "");
  if (std::string path = LibraryPath(version, runtime); !path.empty())
    environment.variables["LD_LIBRARY_PATH"] = std::move(path);
  return environment;
}

}  // namespace

std::optional<Environment> FindEnvironment(const EnvironmentRequest& request) {
  const Layout layout{request.environments_dir};
  const Result<RuntimeVersion> runtime = LoadRuntimeVersion(layout.root, request.runtime_version);
  if (!runtime) return std::nullopt;
  const fs::path base = layout.Runtime(*runtime);
  const fs::path layer = request.packages.empty() ? fs::path() : layout.Layer(*runtime, request.packages);
  if (!IsComplete(base) || (!layer.empty() && !IsComplete(layer))) return std::nullopt;
  if (!HasSiteHook(layout)) return std::nullopt;
  if (request.algorithms && ::access(AlgorithmFolder(layout).c_str(), R_OK | X_OK) != 0) return std::nullopt;
  return MakeEnvironment(layout, *runtime, layer, request.algorithms);
}

Result<Environment> PrepareEnvironment(const EnvironmentRequest& request, const PreparationHooks& hooks) {
  const Layout layout{fs::absolute(request.environments_dir)};
  TY_TRY(const RuntimeVersion runtime, LoadRuntimeVersion(layout.root, request.runtime_version));
  for (const auto& package : request.packages)
    if (package.checksum.empty()) return std::unexpected(Internal(package.uri + " has no checksum"));
  TY_RETURN_IF_ERROR(InstallSiteHook(layout.root));
  if (request.algorithms) TY_RETURN_IF_ERROR(InstallAlgorithms(layout));
  TY_RETURN_IF_ERROR(BuildRuntime(layout, runtime, hooks));
  if (request.packages.empty()) return MakeEnvironment(layout, runtime, {}, request.algorithms);
  TY_RETURN_IF_ERROR(BuildLayer(layout, runtime, request.packages, hooks));
  return MakeEnvironment(layout, runtime, layout.Layer(runtime, request.packages), request.algorithms);
}

}  // namespace trainyard::environment
