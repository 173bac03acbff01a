#include "programs/environment/python_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/async/file.h"
#include "base/process/run_tool.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/layout.h"
#include "programs/environment/tool_failure.h"
#include "programs/environment/uv.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

fs::path Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

/// Empty: there is no such directory.
fs::path HomeFolder(const char* variable, const char* below_home) {
  if (fs::path named = Variable(variable); !named.empty()) return named;
  const fs::path home = Variable("HOME");
  return home.empty() ? fs::path() : home / below_home;
}

/// The directories in which installations are searched.
struct Places {
  std::vector<fs::path> bins;     ///< the directories of programs, in their order
  std::vector<fs::path> parents;  ///< each entry is an installation, and new ones may be added

  /// Adds the bin directory of each installation below `folder`, sorted so that the result does not depend on
  /// the disk.
  void AddInstallations(const fs::path& folder) {
    if (folder.empty()) return;
    parents.push_back(folder);
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) found.push_back(entry.path() / "bin");
    std::ranges::sort(found, std::greater<>());
    bins.insert(bins.end(), found.begin(), found.end());
  }

  /// Adds the Python of a conda installation and those of its environments.
  void AddConda(const fs::path& folder) {
    if (folder.empty()) return;
    bins.push_back(folder / "bin");
    AddInstallations(folder / "envs");
  }
};

/// The directory of uv's Pythons, as printed by `uv python dir`.
fs::path UvPythons() {
  if (fs::path own = Variable("UV_PYTHON_INSTALL_DIR"); !own.empty()) return own;
  const fs::path data = HomeFolder("XDG_DATA_HOME", ".local/share");
  return data.empty() ? fs::path() : data / "uv/python";
}

Places FindPlaces(const fs::path& environments_dir) {
  Places places{.bins = {"/usr/bin", "/usr/local/bin"}, .parents = {}};
  std::vector<fs::path>& bins = places.bins;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? std::string_view() : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.starts_with('/')) bins.emplace_back(folder);
  }
  places.AddInstallations(Layout{environments_dir}.Pythons());
  places.AddInstallations(UvPythons());
  if (const fs::path pyenv = HomeFolder("PYENV_ROOT", ".pyenv"); !pyenv.empty())
    places.AddInstallations(pyenv / "versions");
  places.AddConda(Variable("CONDA_PREFIX"));
  for (const char* name : {"miniconda3", "anaconda3", "miniforge3"})
    if (const fs::path home = Variable("HOME"); !home.empty()) places.AddConda(home / name);
  places.AddConda("/opt/conda");
  return places;
}

/// "3.11" for "python3.11"; empty for python3.11-config and everything else.
std::string_view VersionInName(std::string_view name) {
  constexpr std::string_view kPrefix = "python";
  if (!name.starts_with(kPrefix) || !ParseMajorMinor(name.substr(kPrefix.size()))) return {};
  return name.substr(kPrefix.size());
}

/// Wrapper scripts (pyenv's and others) are not interpreters, and take 50 ms to answer.
bool IsProgram(const fs::path& file) {
  std::array<char, 4> magic{};
  const auto opened = OpenFile(file, O_RDONLY);
  return opened && ::read(opened->get(), magic.data(), magic.size()) == 4 &&
         std::string_view(magic.data(), magic.size()) == "\177ELF";
}

/// The modules that runtime versions may take from the system's Python.
std::vector<std::string> SystemModules(const fs::path& environments_dir) {
  std::set<std::string> names;
  const auto catalogue = Catalogue::Load(environments_dir);
  if (!catalogue) return {};
  for (const RuntimeVersion& runtime : catalogue->versions())
    for (const auto& [name, package] : runtime.system_modules) names.insert(name);
  return {names.begin(), names.end()};
}

/// Runs the interpreter and returns it with those of `modules` that it has; empty if it has another version
/// or lacks modules that every environment needs.
std::optional<Python> Ask(const fs::path& file, std::string_view version,
                          const std::vector<std::string>& modules) {
  ToolCommand command{{file.string(), "-I", "-c",
                       "import sys, zlib, ctypes, importlib.util, site\n"
                       "print('%d.%d' % sys.version_info[:2])\n"
                       "for folder in getattr(site, 'getsitepackages', list)(): print(folder)\n"
                       "for name in sys.argv[1:]:\n"
                       "    if importlib.util.find_spec(name): print(name)"},
                      {}};
  command.argv.insert(command.argv.end(), modules.begin(), modules.end());
  const auto end = RunTool(command, {}, {}, {});
  if (!end || !end->ok() || end->tail.empty() || end->tail.front() != version) return std::nullopt;
  Python python{.version = std::string(version), .path = file.string()};
  for (auto line = std::next(end->tail.begin()); line != end->tail.end(); ++line)
    (line->starts_with('/') ? python.package_folders : python.modules).push_back(*line);
  return python;
}

}  // namespace

AvailablePythons ProbePythons(const fs::path& environments_dir) {
  AvailablePythons available;
  const std::vector<std::string> modules = SystemModules(environments_dir);
  for (const fs::path& bin : PythonFolders(environments_dir)) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(bin, error))
      if (!VersionInName(entry.path().filename().native()).empty()) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const std::string version(VersionInName(file.filename().native()));
      if (ParseMajorMinor(version) < kPythonMin || available.Find(version) != nullptr) continue;
      if (!IsProgram(file)) continue;
      if (auto python = Ask(file, version, modules)) available.pythons.push_back(*std::move(python));
    }
  }
  return available;
}

std::vector<fs::path> PythonFolders(const fs::path& environments_dir) {
  return FindPlaces(environments_dir).bins;
}

PythonInventory::PythonInventory(fs::path environments_dir) : environments_dir_(std::move(environments_dir)) {
  static_cast<void>(Look());
}

PythonInventory::Times PythonInventory::LookAtFolders(const AvailablePythons& pythons) const {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  Places places = FindPlaces(environments_dir_);
  std::vector<fs::path>& folders = places.bins;
  folders.insert(folders.end(), places.parents.begin(), places.parents.end());
  for (const Python& python : pythons.pythons)
    folders.insert(folders.end(), python.package_folders.begin(), python.package_folders.end());
  Times times;
  for (const fs::path& folder : folders) {
    struct stat status{};
    const bool there = ::stat(folder.c_str(), &status) == 0;
    times[folder.native()] = there ? status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec : -1;
  }
  return times;
}

AvailablePythons PythonInventory::Look() {
  const Snapshot seen = seen_.With([](const Snapshot& now) { return now; });
  const Times before = LookAtFolders(seen.pythons);
  if (before == seen.times) return seen.pythons;
  Snapshot next{.times = {}, .pythons = ProbePythons(environments_dir_)};
  next.times = LookAtFolders(next.pythons);
  // The next call notices what was installed while we looked.
  for (auto& [folder, time] : next.times)
    if (const auto old = before.find(folder); old != before.end()) time = old->second;
  seen_.With([&](Snapshot& now) { now = next; });
  return next.pythons;
}

Status DownloadPython(const fs::path& environments_dir, std::string_view version,
                      const PreparationHooks& hooks) {
  const Layout layout{environments_dir};
  const AvailablePythons available = ProbePythons(environments_dir);
  if (available.Find(version) != nullptr) return {};
  fs::path uv = FindUv(layout);
  if (uv.empty()) {
    if (available.pythons.empty())
      return std::unexpected(FailedPrecondition("there is no Python to install uv with"));
    TY_TRY(uv, ObtainUv(layout, available.pythons.front(), hooks));
  }
  hooks.info("Running command: uv python install " + std::string(version));
  // No code of packages runs here; only interpreters are downloaded.
  ToolCommand command{.argv = {uv.string(), "python", "install", "--no-bin", std::string(version)},
                      .variables = ToolVariables(layout, ToolCache::kNone),
                      .has_all_variables = true};
  if (const char* home = std::getenv("HOME"); home != nullptr) command.variables["HOME"] = home;
  TY_TRY(const ToolEnd end, RunTool(command, hooks.info, hooks.info, hooks.stop));
  if (!end.ok()) return std::unexpected(ExplainFailure("uv", end));
  return {};
}

}  // namespace trainyard::environment
