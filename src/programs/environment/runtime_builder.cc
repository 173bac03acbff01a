#include "programs/environment/runtime_builder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/build_room.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"
#include "programs/environment/package_layer.h"
#include "programs/environment/pip_settings.h"
#include "programs/environment/python_probe.h"
#include "programs/environment/runtime_version.h"
#include "programs/environment/site_hook.h"
#include "programs/environment/stand_in.h"
#include "programs/environment/tool_failure.h"
#include "programs/environment/tool_output.h"
#include "programs/environment/uv.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kProgramMode = 0755;

/// Quotes the text for a shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The script that starts the tool. Variables that point programs to our Python must not reach the tool's
/// Python.
std::string Launcher(const std::string& tool, const fs::path& program) {
  const std::string path = Quoted(program.string());
  return "#!/bin/sh\nunset PYTHONPATH PYTHONHOME VIRTUAL_ENV\n[ -x " + path + " ] || {\n  echo '" + tool +
         " is not installed here; trainyard runtimes install " + tool +
         " installs it' >&2\n  exit 127\n}\nexec " + path + " \"$@\"\n";
}

Status AddTool(const Layout& layout, const std::string& name, const fs::path& folder,
               const PreparationHooks& hooks) {
  TY_TRY(const RuntimeVersion tool, LoadTool(layout.root, name));
  const Status built = BuildRuntime(layout, tool, hooks);
  if (!built) {
    const Code code = built.error().code;
    if (code == Code::kCancelled || code == Code::kResourceExhausted) return built;
    hooks.error(name + " cannot be installed: " + built.error().message);
  }
  return WriteFileAtomically(folder / "bin" / name, Launcher(name, layout.Runtime(tool) / "bin" / name),
                             kProgramMode);
}

/// Builds the tools that a runtime version names, each once for all versions, in a separate environment,
/// since gsutil's requirements conflict with those of programs. The runtime's bin folder gets a script for
/// each. A tool that cannot be installed affects nothing else: the log says why, its script says what to do.
/// Errors: kCancelled, kResourceExhausted, and those of writing the scripts.
Status AddTools(const Layout& layout, const RuntimeVersion& runtime, const fs::path& folder,
                const PreparationHooks& hooks) {
  for (const std::string& tool : runtime.tools) TY_RETURN_IF_ERROR(AddTool(layout, tool, folder, hooks));
  return {};
}

/// The data that every step of one build needs.
struct Build {
  const Layout& layout;
  const RuntimeVersion& runtime;
  const PreparationHooks& hooks;
  const Python& python;
  fs::path folder;
  BuildRoom& room;
  ToolOutput& output;

  [[nodiscard]] Status Run(std::string_view tool, std::vector<std::string> argv) const {
    // uv prints everything on stderr; only what follows its own "error:" is an error.
    bool failed = tool != "uv";
    const LineSink out = output.Out();
    const LineSink err = [&, error = output.Err()](std::string_view line) {
      failed = failed || line.starts_with("error") || line.find("×") != std::string_view::npos;
      (failed ? error : out)(line);
    };
    TY_TRY(const ToolEnd end, room.Run(std::move(argv), out, err));
    output.End(end.ok());
    if (!end.ok()) return std::unexpected(ExplainFailure(tool, end));
    return {};
  }
};

Result<Python> ChoosePython(const Layout& layout, const RuntimeVersion& runtime) {
  const AvailablePythons available = ProbePythons(layout.root);
  const Catalogue only({runtime});
  TY_TRY(const Resolution resolution, only.Resolve(runtime.version, {}, FallbackPolicy::kNone, available));
  return *available.Find(resolution.python);
}

Result<fs::path> WriteRequirements(const Build& build) {
  fs::path file = build.room.Incoming() / "requirements.txt";
  std::string text;
  for (const std::string& package : build.runtime.packages) text += package + "\n";
  TY_RETURN_IF_ERROR(WriteFileAtomically(file, text));
  return file;
}

/// Makes sure that there is a pip, which installs packages of jobs. The interpreter's bundled pip needs no
/// index, but Debian's may have none. Jobs without packages run without pip: if it cannot be installed, the
/// log says so, and it is no failure.
Status EnsurePip(const Build& build, const fs::path& uv) {
  const std::string interpreter = Layout::Interpreter(build.folder).string();
  if (!NeedsPip(build.runtime)) return {};
  TY_TRY(const ToolEnd end, build.room.Run({interpreter, "-m", "ensurepip", "--default-pip"}, {}, {}));
  if (end.ok()) return {};
  build.output.Begin("Running command: uv pip install --compile-bytecode pip");
  const Status got =
      build.Run("uv", {uv.string(), "pip", "install", "--python", interpreter, "--compile-bytecode", "pip"});
  if (got || got.error().code == Code::kCancelled || got.error().code == Code::kResourceExhausted) return got;
  build.hooks.info("It has no pip, so jobs with packages cannot use it: its package list has none, " +
                   ExplainFailure("ensurepip", end).message + ", " + got.error().message +
                   ". Remove it, and install it again when pip is available.");
  return {};
}

Status InstallWithUv(const Build& build, const fs::path& uv) {
  std::vector<std::string> venv{uv.string(), "venv", "--quiet", "--no-project", "--allow-existing"};
  if (!build.runtime.system_modules.empty()) venv.emplace_back("--system-site-packages");
  venv.insert(venv.end(), {"--python", build.python.path, build.folder.string()});
  TY_RETURN_IF_ERROR(build.Run("uv", std::move(venv)));
  TY_TRY(const fs::path requirements, WriteRequirements(build));
  std::vector<std::string> argv{uv.string(),
                                "pip",
                                "install",
                                "--python",
                                Layout::Interpreter(build.folder).string(),
                                "--compile-bytecode",
                                "--requirements",
                                requirements.string()};
  if (build.runtime.locked) argv.emplace_back("--no-deps");
  build.output.Begin("Running command: uv pip install --compile-bytecode --requirements requirements.txt" +
                     std::string(build.runtime.locked ? " --no-deps" : ""));
  TY_RETURN_IF_ERROR(build.Run("uv", std::move(argv)));
  return EnsurePip(build, uv);
}

Status InstallWithPip(const Build& build) {
  // In two steps, because venv hides ensurepip's messages.
  std::vector<std::string> venv{build.python.path, "-m", "venv", "--without-pip", build.folder.string()};
  if (!build.runtime.system_modules.empty()) venv.emplace_back("--system-site-packages");
  TY_RETURN_IF_ERROR(build.Run("venv", std::move(venv)));
  TY_RETURN_IF_ERROR(
      build.Run("venv", {Layout::Interpreter(build.folder).string(), "-m", "ensurepip", "--default-pip"}));
  if (build.runtime.packages.empty()) return {};
  TY_TRY(const fs::path requirements, WriteRequirements(build));
  std::vector<std::string> argv{Layout::Interpreter(build.folder).string(),
                                "-m",
                                "pip",
                                "install",
                                "--requirement",
                                requirements.string()};
  if (build.runtime.locked) argv.emplace_back("--no-deps");
  build.output.Begin("Running command: pip3 install --requirement requirements.txt" +
                     std::string(build.runtime.locked ? " --no-deps" : ""));
  return build.Run("pip", std::move(argv));
}

/// Compiles the hook's bytecode for this Python, since a replica may see the directory read-only. It uses the
/// interpreter that the runtime was made with, without site-packages: no code of a package runs, so it needs
/// no isolation.
Status CompileSite(const Build& build) {
  constexpr const char* kProgram =
      "import sys\n"
      "sys.path = [folder for folder in sys.path if folder]\n"
      "import compileall\n"
      "sys.exit(not compileall.compile_dir(sys.argv[1], quiet=1))\n";
  const ToolCommand command{
      .argv = {build.python.path, "-E", "-s", "-S", "-c", kProgram, build.layout.Site().string()},
      .variables = ToolVariables(build.layout, ToolCache::kNone),
      .has_all_variables = true};
  TY_TRY(const ToolEnd end, RunTool(command, build.hooks.info, build.hooks.error, build.hooks.stop));
  if (!end.ok()) return std::unexpected(ExplainFailure("python", end));
  return {};
}

/// Makes libraries usable without NVIDIA's packages, which the list leaves out.
Status LeaveOutCuda(const Build& build) {
  if (build.runtime.without_cuda.empty()) return {};
  const fs::path libraries =
      Layout::SitePackages(build.folder, build.python.version) / build.runtime.without_cuda;
  const fs::path program = build.room.Incoming() / "leave_out_cuda.py";
  TY_RETURN_IF_ERROR(WriteFileAtomically(program, EmbeddedLeaveOutCuda()));
  return build.Run("python",
                   {Layout::Interpreter(build.folder).string(), "-I", program.string(), libraries.string()});
}

Status Fill(const Build& build) {
  std::optional<fs::path> uv;
  // Without packages venv is enough: it comes with pip, so no network is needed.
  if (!build.runtime.packages.empty()) {
    Result<fs::path> obtained = ObtainUv(build.layout, build.python, build.hooks);
    if (obtained) {
      uv = *std::move(obtained);
    } else if (obtained.error().code == Code::kCancelled ||
               obtained.error().code == Code::kResourceExhausted) {
      return std::unexpected(std::move(obtained).error());
    } else {
      build.hooks.info("Installing with pip, because uv is not available: " + obtained.error().message);
    }
  }
  TY_RETURN_IF_ERROR(uv ? InstallWithUv(build, *uv) : InstallWithPip(build));
  TY_RETURN_IF_ERROR(LeaveOutCuda(build));
  TY_RETURN_IF_ERROR(build.room.TakeBack());
  TY_RETURN_IF_ERROR(
      WriteStandIns(Layout::SitePackages(build.folder, build.python.version), build.runtime.provides));
  TY_RETURN_IF_ERROR(AddTools(build.layout, build.runtime, build.folder, build.hooks));
  return CompileSite(build);
}

std::string Seconds(std::chrono::steady_clock::duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", std::chrono::duration<double>(duration).count());
  return text.data();
}

}  // namespace

Status BuildRuntime(const Layout& layout, const RuntimeVersion& runtime, const PreparationHooks& hooks) {
  const fs::path folder = layout.Runtime(runtime);
  const std::string name =
      runtime.kind == RuntimeVersion::Kind::kTool ? runtime.version : "runtime version " + runtime.version;
  const auto waiting = [&] { hooks.info("Waiting for another process, which is building " + name + "."); };
  const auto build = [&](const BuildLock& lock) -> Result<std::string> {
    TY_TRY(const Python python, ChoosePython(layout, runtime));
    hooks.info("Building " + name + " (Python " + python.version + "). This happens once on this machine.");
    if (hooks.progress) hooks.progress({.what = "Building " + name, .unit = "packages"});
    ToolOutput output(folder, hooks, "Building " + name);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::string> visible = PythonFiles(python.path);
    for (const std::string& package : runtime.packages) {
      for (std::string& path : PathsIn(package)) visible.push_back(std::move(path));
    }
    TY_TRY(const auto room, BuildRoom::Open({.layout = layout,
                                             .hooks = hooks,
                                             .folder = folder,
                                             .lock = lock.descriptor(),
                                             .cache = ToolCache::kRuntimes,
                                             .read_only = std::move(visible)}));
    TY_RETURN_IF_ERROR(Fill({layout, runtime, hooks, python, folder, *room, output}));
    hooks.info("Built " + name + " in " + Seconds(std::chrono::steady_clock::now() - begin) + ".");
    return python.version;
  };
  return BuildOnce(folder, waiting, build, hooks.stop);
}

}  // namespace trainyard::environment
