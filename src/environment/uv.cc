#include "environment/uv.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "async/file.h"
#include "async/run_program.h"
#include "environment/build_lock.h"
#include "environment/pip_settings.h"
#include "environment/run_tool.h"
#include "environment/tool_failure.h"

extern char** environ;

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPipConfBytesMax = std::size_t{1} << 20;

std::map<std::string, std::string> ProcessVariables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return variables;
}

/// The machine's and the user's configuration, the latter last so that it wins.
std::string PipConf(const std::map<std::string, std::string>& variables) {
  std::string text;
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

bool Executable(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

fs::path FindUv(const Layout& layout) {
  if (std::string found = FindProgram("uv"); !found.empty()) return found;
  fs::path own = layout.Tools() / "uv" / "bin" / "uv";
  return Executable(own) ? own : fs::path();
}

Result<fs::path> ObtainUv(const Layout& layout, const Python& python,
                          const std::function<void(std::string_view line)>& info,
                          const std::stop_token& stop) {
  if (fs::path found = FindUv(layout); !found.empty()) return found;
  const fs::path folder = layout.Tools() / "uv";
  std::error_code error;
  fs::create_directories(layout.Tools(), error);
  TY_TRY(const BuildLock lock, BuildLock::Acquire(Layout::Lock(folder), [] {}, stop));
  if (fs::path found = FindUv(layout); !found.empty()) return found;
  fs::remove_all(folder, error);
  const auto run = [&](std::vector<std::string> argv) -> Status {
    ToolCommand command{std::move(argv), ToolVariables(layout), lock.descriptor()};
    TY_TRY(const ToolEnd end, RunTool(command, {}, {}, stop));
    if (!end.ok()) return std::unexpected(ExplainFailure("pip", end));
    return {};
  };
  const std::string requirement = "uv==" + std::string(kUvVersion);
  info("Running command: pip3 install " + requirement);
  TY_RETURN_IF_ERROR(run({python.path, "-m", "venv", folder.string()}));
  TY_RETURN_IF_ERROR(run({Layout::Interpreter(folder).string(), "-m", "pip", "install", requirement}));
  return folder / "bin" / "uv";
}

std::map<std::string, std::optional<std::string>> ToolVariables(const Layout& layout) {
  const std::map<std::string, std::string> process = ProcessVariables();
  std::map<std::string, std::optional<std::string>> variables{
      {"PYTHONPATH", std::nullopt},
      {"PYTHONHOME", std::nullopt},
      {"PYTHONSTARTUP", std::nullopt},
      {"PYTHONNOUSERSITE", "1"},
      {"PYTHONUNBUFFERED", "1"},
      {"PYTHONDONTWRITEBYTECODE", std::nullopt},
      {"VIRTUAL_ENV", std::nullopt},
      {"CONDA_PREFIX", std::nullopt},
      {"PIP_USER", std::nullopt},
      {"PIP_TARGET", std::nullopt},
      {"PIP_PREFIX", std::nullopt},
      {"PIP_REQUIRE_VIRTUALENV", std::nullopt},
      {"PIP_NO_INPUT", "1"},
      {"PIP_NO_COLOR", "1"},
      {"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
      {"PIP_PROGRESS_BAR", "off"},
      {"PIP_NO_WARN_SCRIPT_LOCATION", "1"},
      {"PIP_ROOT_USER_ACTION", "ignore"},
      {"NO_COLOR", "1"},
      {"TRAINYARD_LOG_FD", std::nullopt},
      {"PIP_CACHE_DIR", (layout.Cache() / "pip").string()},
      {"UV_CACHE_DIR", (layout.Cache() / "uv").string()},
      {"UV_PYTHON_INSTALL_DIR", layout.Pythons().string()},
      {"UV_NO_PROGRESS", "1"},
      {"UV_NO_CONFIG", std::nullopt},
      {"UV_PYTHON", std::nullopt},
      {"UV_SYSTEM_CERTS", "1"},
  };
  for (auto& [name, value] : UvSettingsFromPip(PipConf(process), process)) {
    // pip passes over a folder of links that is not there, uv does not.
    std::error_code error;
    if (name == "UV_FIND_LINKS" && value.starts_with('/') && !fs::exists(value, error)) continue;
    variables[name] = value;
  }
  return variables;
}

}  // namespace trainyard::environment
