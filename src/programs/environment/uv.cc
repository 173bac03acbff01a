#include "programs/environment/uv.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/process/run_program.h"
#include "base/process/run_tool.h"
#include "base/process/variables.h"
#include "programs/environment/build_lock.h"
#include "programs/environment/build_room.h"
#include "programs/environment/pip_settings.h"
#include "programs/environment/tool_failure.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPipConfBytesMax = std::size_t{1} << 20;

/// The machine's and the user's configuration, the latter last so that it takes precedence.
/// PIP_CONFIG_FILE=/dev/null disables both.
std::string PipConf(const std::map<std::string, std::string>& variables) {
  std::string text;
  if (const auto file = variables.find("PIP_CONFIG_FILE");
      file != variables.end() && file->second == "/dev/null")
    return text;
  const auto append = [&](const fs::path& file) {
    if (const auto contents = ReadFile(file, kPipConfBytesMax)) text += *contents + "\n";
  };
  append("/etc/pip.conf");
  if (const auto home = variables.find("HOME"); home != variables.end()) {
    append(fs::path(home->second) / ".pip/pip.conf");
    append(fs::path(home->second) / ".config/pip/pip.conf");
  }
  if (const auto file = variables.find("PIP_CONFIG_FILE"); file != variables.end()) append(file->second);
  return text;
}

/// uv's own configuration file, which uv searches in its home. Empty: there is none that tools can read.
std::string UvConfiguration(const std::map<std::string, std::string>& variables) {
  const auto own = variables.find("UV_CONFIG_FILE");
  const auto home = variables.find("HOME");
  if (own != variables.end()) return own->second;
  if (home == variables.end()) return {};
  const fs::path file = fs::path(home->second) / ".config/uv/uv.toml";
  std::error_code error;
  const fs::perms mode = fs::status(file, error).permissions();
  return !error && (mode & fs::perms::others_read) != fs::perms::none ? file.string() : std::string();
}

bool Executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

fs::path FindUv(const Layout& layout) {
  if (std::string found = FindProgram("uv"); !found.empty()) return found;
  fs::path own = layout.Tools() / "uv" / "bin" / "uv";
  return Executable(own) ? own : fs::path();
}

Result<fs::path> ObtainUv(const Layout& layout, const Python& python, const PreparationHooks& hooks) {
  if (fs::path found = FindUv(layout); !found.empty()) return found;
  const fs::path folder = layout.Tools() / "uv";
  TY_RETURN_IF_ERROR(MakeFolders(layout.Tools()));
  TY_TRY(const BuildLock lock, BuildLock::Acquire(Layout::Lock(folder), [] {}, hooks.stop));
  if (fs::path found = FindUv(layout); !found.empty()) return found;
  TY_RETURN_IF_ERROR(RemoveTree(folder));
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  TY_TRY(const auto room, BuildRoom::Open({.layout = layout,
                                           .hooks = hooks,
                                           .folder = folder,
                                           .lock = lock.descriptor(),
                                           .cache = ToolCache::kRuntimes,
                                           .read_only = PythonFiles(python.path)}));
  const auto run = [&](std::vector<std::string> argv) -> Status {
    TY_TRY(const ToolEnd end, room->Run(std::move(argv), {}, {}));
    if (!end.ok()) return std::unexpected(ExplainFailure("pip", end));
    return {};
  };
  const std::string requirement = "uv==" + std::string(kUvVersion);
  hooks.info("Running command: pip3 install " + requirement);
  const auto install = [&]() -> Status {
    TY_RETURN_IF_ERROR(run({python.path, "-m", "venv", folder.string()}));
    TY_RETURN_IF_ERROR(run({Layout::Interpreter(folder).string(), "-m", "pip", "install", requirement}));
    return room->TakeBack();
  };
  if (Status done = install(); !done) {
    if (lock.Confirm()) std::ignore = RemoveTree(folder);  // the original error is what counts
    return std::unexpected(std::move(done).error());
  }
  return folder / "bin" / "uv";
}

std::map<std::string, std::optional<std::string>> ToolVariables(const Layout& layout, ToolCache cache) {
  const std::map<std::string, std::string> process = ReadVariables();
  std::map<std::string, std::optional<std::string>> variables;
  for (const auto& [name, value] : process)
    if (IsToolSetting(name)) variables[name] = value;
  const std::string conf = PipConf(process);
  for (auto& [name, value] : PipVariables(conf, process)) variables[name] = value;
  for (auto& [name, value] : UvSettingsFromPip(conf, process)) {
    // pip ignores a directory of links that does not exist, uv does not.
    std::error_code error;
    if (name == "UV_FIND_LINKS" && value.starts_with('/') && !fs::exists(value, error)) continue;
    variables[name] = value;
  }
  for (const char* name :
       {"PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_CACHE_DIR", "PIP_LOG",
        "PIP_LOG_FILE", "UV_NO_CONFIG", "UV_PYTHON", "UV_CACHE_DIR", "UV_TOOL_DIR", "UV_TOOL_BIN_DIR"})
    variables.erase(name);
  const std::map<std::string, std::string> ours{{"PYTHONNOUSERSITE", "1"},
                                                {"PYTHONUNBUFFERED", "1"},
                                                {"PIP_CONFIG_FILE", "/dev/null"},
                                                {"PIP_NO_INPUT", "1"},
                                                {"PIP_NO_COLOR", "1"},
                                                {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
                                                {"PIP_PROGRESS_BAR", "off"},
                                                {"PIP_NO_WARN_SCRIPT_LOCATION", "1"},
                                                {"PIP_ROOT_USER_ACTION", "ignore"},
                                                {"NO_COLOR", "1"},
                                                {"UV_PYTHON_INSTALL_DIR", layout.Pythons().string()},
                                                {"UV_NO_PROGRESS", "1"},
                                                {"UV_LINK_MODE", "copy"},  // the cache is on another mount
                                                {"UV_SYSTEM_CERTS", "1"}};
  for (const auto& [name, value] : ours) variables[name] = value;
  variables.try_emplace("LANG", "C.UTF-8");
  if (std::string file = UvConfiguration(process); !file.empty())
    variables["UV_CONFIG_FILE"] = std::move(file);
  if (cache == ToolCache::kRuntimes) {
    variables["PIP_CACHE_DIR"] = (layout.Cache() / "pip").string();
    variables["UV_CACHE_DIR"] = (layout.Cache() / "uv").string();
  } else {
    variables["PIP_NO_CACHE_DIR"] = "1";
    variables["UV_NO_CACHE"] = "1";
  }
  return variables;
}

std::vector<std::string> FilesNamedIn(const std::map<std::string, std::optional<std::string>>& variables) {
  const std::array<std::string_view, 6> ours{"PATH",     "PIP_CACHE_DIR",   "UV_CACHE_DIR",
                                             "NO_PROXY", "PIP_CONFIG_FILE", "UV_PYTHON_INSTALL_DIR"};
  std::vector<std::string> files;
  for (const auto& [name, value] : variables) {
    if (!value || std::ranges::find(ours, name) != ours.end()) continue;
    for (std::string& path : PathsIn(*value)) files.push_back(std::move(path));
  }
  return files;
}

}  // namespace trainyard::environment
