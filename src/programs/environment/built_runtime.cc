#include "programs/environment/built_runtime.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/text/hex.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/content_hash.h"
#include "programs/environment/layout.h"

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

namespace fs = std::filesystem;
using std::chrono::system_clock;

std::optional<std::chrono::system_clock::time_point> ChangeTime(const fs::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec);
}

/// The directories of layers on this runtime.
std::vector<fs::path> LayersOn(const Layout& layout, const fs::path& runtime) {
  std::vector<fs::path> layers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(layout.root / "layers", error)) {
    const auto base = ReadFile(Layout::LayerBase(entry.path()));
    if (base && *base == runtime.filename().native()) layers.push_back(entry.path());
  }
  std::ranges::sort(layers);
  return layers;
}

bool IsHash(std::string_view text) { return text.size() == kHashDigits && text::IsLowerHex(text); }

/// VERSION-HASH for any hash: the directories that this and previous definitions have built.
std::vector<fs::path> AllFolders(const Layout& layout, const RuntimeVersion& runtime) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(layout.Runtime(runtime).parent_path(), error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(runtime.version + "-") &&
        IsHash(std::string_view(name).substr(runtime.version.size() + 1)) && entry.is_directory(error))
      folders.push_back(entry.path());
  }
  return folders;
}

/// @param name  for messages.
Result<std::uint64_t> RemoveFolder(const Layout& layout, const std::string& name, const fs::path& folder) {
  const auto lock = BuildLock::Try(Layout::Lock(folder));
  if (!lock && lock.error().code == Code::kCancelled)
    return std::unexpected(FailedPrecondition(name + " is being built"));
  if (!lock) return std::unexpected(lock.error());
  TY_TRY(const UniqueFd use, OpenFile(Layout::UseLock(folder), O_RDWR | O_CREAT));
  if (::flock(use.get(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(FailedPrecondition("a running replica uses " + name));
  std::vector<fs::path> doomed = LayersOn(layout, folder);
  doomed.push_back(folder);
  std::uint64_t bytes = 0;
  for (const fs::path& one : doomed) {
    bytes += SizeOf(one);
    std::error_code error;
    fs::remove(Layout::SizeNote(one), error);  // it belongs to no build and would be ignored
    fs::remove(Layout::Output(one), error);
    error.clear();
    fs::remove(Layout::Marker(one), error);  // first, since a partly removed directory must not look complete
    if (!error) fs::remove_all(one, error);
    if (error) return std::unexpected(ErrnoError(error.value(), "remove " + one.string()));
  }
  return bytes;
}

EnvironmentFolder Look(const fs::path& folder, bool with_bytes) {
  const auto built = ChangeTime(Layout::Marker(folder));
  const auto used = ChangeTime(Layout::UseLock(folder));
  const auto changed = ChangeTime(folder);
  const auto made = built ? built : changed;
  return {
      .path = folder,
      .is_complete = built.has_value(),
      .last_used = std::max(made.value_or(system_clock::now()), used.value_or(system_clock::time_point())),
      .bytes = with_bytes ? static_cast<std::int64_t>(SizeOf(folder)) : 0};
}

}  // namespace

std::vector<EnvironmentFolder> ListEnvironmentFolders(const fs::path& environments_dir, bool with_bytes) {
  std::vector<EnvironmentFolder> folders;
  for (const char* kind : {"runtimes", "layers"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(environments_dir / kind, error))
      if (entry.is_directory(error)) folders.push_back(Look(entry.path(), with_bytes));
  }
  return folders;
}

std::set<fs::path> FoldersOf(std::span<const EnvironmentRequest> requests) {
  std::set<fs::path> folders;
  for (const EnvironmentRequest& request : requests) {
    const Layout layout{request.environments_dir};
    const auto runtime = LoadRuntimeVersion(layout.root, request.runtime_version);
    if (!runtime) continue;
    folders.insert(layout.Runtime(*runtime));
    if (!request.packages.empty()) folders.insert(layout.Layer(*runtime, request.packages));
  }
  return folders;
}

Result<std::uint64_t> RemoveEnvironmentFolder(const fs::path& environments_dir, const fs::path& folder) {
  return RemoveFolder(Layout{environments_dir}, folder.filename(), folder);
}

std::optional<BuiltRuntime> FindBuilt(const fs::path& environments_dir, const RuntimeVersion& runtime) {
  const Layout layout{environments_dir};
  const fs::path folder = layout.Runtime(runtime);
  if (!IsComplete(folder)) return std::nullopt;
  return BuiltRuntime{.folder = folder,
                      .python = ReadFile(Layout::Marker(folder)).value_or(std::string()),
                      .bytes = SizeOf(folder),
                      .last_use = ChangeTime(Layout::UseLock(folder)),
                      .layers = LayersOn(layout, folder)};
}

bool IsBeingBuilt(const fs::path& environments_dir, const RuntimeVersion& runtime) {
  const fs::path folder = Layout{environments_dir}.Runtime(runtime);
  std::error_code error;
  if (!fs::exists(Layout::Lock(folder), error)) return false;
  const auto lock = BuildLock::Try(Layout::Lock(folder));
  return !lock && lock.error().code == Code::kCancelled;
}

Result<std::uint64_t> RemoveBuilt(const fs::path& environments_dir, const RuntimeVersion& runtime) {
  const Layout layout{environments_dir};
  const std::vector<fs::path> folders = AllFolders(layout, runtime);
  if (folders.empty()) return std::unexpected(NotFound(runtime.version + " is not installed"));
  std::uint64_t bytes = 0;
  for (const fs::path& folder : folders) {
    TY_TRY(const std::uint64_t freed, RemoveFolder(layout, runtime.version, folder));
    bytes += freed;
  }
  return bytes;
}

std::optional<std::chrono::system_clock::time_point> DownloadCacheUse(const fs::path& environments_dir) {
  const fs::path cache = Layout{environments_dir}.Cache();
  const auto changed = ChangeTime(cache);
  if (!changed) return std::nullopt;
  return ChangeTime(Layout::UseLock(cache)).value_or(*changed);
}

std::uint64_t DownloadCacheBytes(const fs::path& environments_dir) {
  const fs::path cache = Layout{environments_dir}.Cache();
  return SizeSince(Layout::UseLock(cache), cache);
}

Result<std::uint64_t> RemoveDownloadCache(const fs::path& environments_dir) {
  const fs::path cache = Layout{environments_dir}.Cache();
  if (!ChangeTime(cache)) return std::unexpected(NotFound("the cache is empty"));
  TY_TRY(const UniqueFd use, OpenFile(Layout::UseLock(cache), O_RDWR | O_CREAT));
  if (::flock(use.get(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(FailedPrecondition("a build uses the cache"));
  const std::uint64_t bytes = BytesBelow(cache);
  std::error_code error;
  fs::remove(Layout::SizeNote(cache), error);
  TY_RETURN_IF_ERROR(RemoveTree(cache));
  return bytes;
}

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
  if (const auto last_use = DownloadCacheUse(environments_dir)) {
    list.set_cache_bytes(static_cast<std::int64_t>(DownloadCacheBytes(environments_dir)));
    list.mutable_cache_last_use()->set_seconds(std::chrono::system_clock::to_time_t(*last_use));
  }
  // An interpreter's files do not change: only a further one changes the directory.
  const fs::path pythons = Layout{environments_dir}.Pythons();
  if (ChangeTime(pythons)) list.set_pythons_bytes(static_cast<std::int64_t>(SizeSince(pythons, pythons)));
  return list;
}

}  // namespace trainyard::environment
