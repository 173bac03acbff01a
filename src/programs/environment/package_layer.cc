#include "programs/environment/package_layer.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/build_room.h"
#include "programs/environment/content_hash.h"
#include "programs/environment/layout.h"
#include "programs/environment/python_files.h"
#include "programs/environment/stand_in.h"
#include "programs/environment/tool_failure.h"
#include "programs/environment/tool_output.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

/// Begins the lines of layer_probe.py that are for the log.
constexpr std::string_view kNote = "# ";
/// Begins its lines with requirements that are satisfied.
constexpr std::string_view kSatisfied = "= ";

constexpr std::size_t kScriptBytesMax = std::size_t{64} << 10;

/// The first lines of a script, which may name the interpreter: "#!PATH", or "#!/bin/sh" and an exec line if
/// the path is long.
constexpr int kHeadLines = 2;

std::size_t HeadLength(std::string_view text) {
  std::size_t end = 0;
  for (int line = 0; line < kHeadLines && end != std::string_view::npos; ++line)
    end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

/// Makes `layer` an empty virtual environment over the one in `runtime`: pyvenv.cfg, interpreter links, and a
/// .pth file that appends the runtime's site-packages, its own .pth files included. Errors of the file
/// system.
Status WriteLayerSkeleton(const fs::path& runtime, const fs::path& layer, const std::string& python_version) {
  const fs::path site_packages = Layout::SitePackages(layer, python_version);
  TY_RETURN_IF_ERROR(MakeFolders(site_packages));
  TY_RETURN_IF_ERROR(MakeFolders(layer / "bin"));
  std::error_code error;
  // Links to the real program, which finds its standard library from there and the layer from the link.
  const fs::path program = fs::canonical(Layout::Interpreter(runtime), error);
  for (const std::string& name : {std::string("python"), std::string("python3"), "python" + python_version})
    if (!error) fs::create_symlink(program, layer / "bin" / name, error);
  if (!error) fs::copy_file(runtime / "pyvenv.cfg", layer / "pyvenv.cfg", error);
  if (error) return std::unexpected(ErrnoError(error.value(), layer.string()));
  TY_RETURN_IF_ERROR(WriteFileAtomically(Layout::LayerBase(layer), runtime.filename().native()));
  std::string quoted = Layout::SitePackages(runtime, python_version).string();
  for (std::size_t at = 0; (at = quoted.find_first_of("\\'", at)) != std::string::npos; at += 2)
    quoted.insert(at, "\\");
  return WriteFileAtomically(site_packages / "_trainyard_runtime.pth",
                             "import site; site.addsitedir('" + quoted + "')\n");
}

/// Gives the layer a copy of each of the runtime's Python commands that it does not have itself, run by the
/// layer's interpreter: a command line tool of the runtime must see the job's packages too. Errors of the
/// file system.
Status RetargetScripts(const fs::path& runtime, const fs::path& layer) {
  const std::string from = (runtime / "bin" / "python").string();
  const std::string to = (layer / "bin" / "python").string();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runtime / "bin", error)) {
    const fs::path target = layer / "bin" / entry.path().filename();
    std::error_code ignored;
    if (entry.is_symlink(ignored) || !entry.is_regular_file(ignored) || fs::exists(target, ignored)) continue;
    const Result<std::string> script = ReadFile(entry.path(), kScriptBytesMax);
    if (!script || !script->starts_with("#!")) continue;
    std::string head = script->substr(0, HeadLength(*script));
    const std::size_t at = head.find(from);
    if (at == std::string::npos) continue;
    const std::string rest = script->substr(head.size());
    TY_RETURN_IF_ERROR(WriteFileAtomically(target, head.replace(at, from.size(), to) + rest, 0755));
  }
  if (error) return std::unexpected(ErrnoError(error.value(), (runtime / "bin").string()));
  return {};
}

namespace fs = std::filesystem;
using Package = EnvironmentRequest::Package;

/// The data that every step of one build needs.
struct Build {
  const PreparationHooks& hooks;
  BuildRoom& room;
  ToolOutput& output;
  fs::path folder;
  std::string python_version;

  [[nodiscard]] Result<ToolEnd> Run(std::vector<std::string> argv, const LineSink& out,
                                    const LineSink& err) const {
    argv.insert(argv.begin(), Layout::Interpreter(folder).string());
    return room.Run(std::move(argv), out, err);
  }

  /// Runs layer_probe.py and returns the lines that it prints.
  [[nodiscard]] Result<std::vector<std::string>> Probe(std::string_view question,
                                                       const std::string& argument) const {
    std::vector<std::string> lines;
    const LineSink out = [&](std::string_view line) { lines.emplace_back(line); };
    TY_TRY(const ToolEnd end,
           Run({"-c", std::string(EmbeddedLayerProbe()), std::string(question), argument}, out, hooks.error));
    if (!end.ok()) return std::unexpected(ExplainFailure("python", end));
    return lines;
  }

  /// @param shown  how the log shows the last argument
  [[nodiscard]] Status Pip(const std::vector<std::string>& options, const std::vector<std::string>& what,
                           std::string_view shown) const {
    std::string line = "Running command: pip3 install";
    std::vector<std::string> argv{"-m", "pip", "install"};
    for (const std::string& option : options) {
      line += " " + option;
      argv.push_back(option);
    }
    output.Begin(line + " " + std::string(shown));
    argv.insert(argv.end(), what.begin(), what.end());
    TY_TRY(const ToolEnd end, Run(std::move(argv), output.Out(), output.Err()));
    output.End(end.ok());
    if (!end.ok()) return std::unexpected(ExplainFailure("pip", end));
    return {};
  }
};

/// The original installed each package twice: itself by force, then with what it requires. Here the second
/// pass names the missing requirements, so that a package is built once and a package without any needs no
/// network. The others are constraints of it: pip does not know them, and would break them.
Status Install(const Build& build, const Package& package, const fs::path& file) {
  std::vector<std::string> options{"--upgrade", "--force-reinstall", "--no-deps", "--no-cache-dir"};
  if (file.extension() != ".whl") {
    TY_TRY(const auto isolation, build.Probe("isolation", file.string()));
    if (isolation == std::vector<std::string>{"shared"}) options.emplace_back("--no-build-isolation");
  }
  build.hooks.info("Installing the package: " + package.uri);
  TY_RETURN_IF_ERROR(build.Pip(options, {file.string()}, file.filename().native()));
  const std::string site_packages = Layout::SitePackages(build.folder, build.python_version).string();
  TY_TRY(std::vector<std::string> missing, build.Probe("missing", site_packages));
  std::string satisfied;
  std::erase_if(missing, [&](const std::string& line) {
    const bool is_note = line.starts_with(kNote);
    const bool is_satisfied = line.starts_with(kSatisfied);
    if (is_note) build.hooks.info(std::string_view(line).substr(kNote.size()));
    if (is_satisfied) satisfied += line.substr(kSatisfied.size()) + "\n";
    return is_note || is_satisfied;
  });
  if (missing.empty()) return {};
  std::vector<std::string> keeping;
  if (!satisfied.empty()) {
    const std::string constraints = (file.parent_path() / "satisfied.txt").string();
    TY_RETURN_IF_ERROR(WriteFileAtomically(constraints, satisfied));
    keeping = {"--constraint", constraints};
  }
  std::string shown;
  for (const std::string& requirement : missing) shown += (shown.empty() ? "'" : " '") + requirement + "'";
  return build.Pip(keeping, missing, shown);
}

Status DownloadAndInstall(const Build& build, const Package& package, std::size_t index) {
  // The file is not downloaded into the layer: code of the previous package may have put a link there.
  const fs::path folder = build.room.Incoming() / std::to_string(index);
  TY_RETURN_IF_ERROR(MakeFolders(folder));
  const fs::path file = folder / fs::path(package.uri).filename();
  build.hooks.info("Downloading the package: " + package.uri);
  TY_RETURN_IF_ERROR(build.hooks.download(package.uri, file.string()));
  TY_RETURN_IF_ERROR(CheckContent(package, file.string()));
  return Install(build, package, file);
}

}  // namespace

std::string_view EmbeddedLayerProbe() noexcept { return python::Files()[1].bytes; }
std::string_view EmbeddedLeaveOutCuda() noexcept { return python::Files()[4].bytes; }

Status BuildLayer(const Layout& layout, const RuntimeVersion& runtime, const std::vector<Package>& packages,
                  const PreparationHooks& hooks) {
  const fs::path base = layout.Runtime(runtime);
  const fs::path folder = layout.Layer(runtime, packages);
  const auto waiting = [&] {
    hooks.info("Waiting for another replica, which is installing the same packages.");
  };
  const auto fill = [&](const BuildLock& lock) -> Result<std::string> {
    TY_TRY(std::string python_version, ReadFile(Layout::Marker(base)));
    if (!ParseMajorMinor(python_version))
      return std::unexpected(FailedPrecondition(base.string() + " does not say which Python it has"));
    TY_RETURN_IF_ERROR(WriteLayerSkeleton(base, folder, python_version));
    TY_RETURN_IF_ERROR(
        WriteStandIns(Layout::SitePackages(folder, python_version), NamesOfTensorFlow(runtime)));
    std::vector<std::string> visible = PythonFiles(Layout::Interpreter(base));
    visible.push_back(base.string());
    TY_TRY(const auto room, BuildRoom::Open({.layout = layout,
                                             .hooks = hooks,
                                             .folder = folder,
                                             .lock = lock.descriptor(),
                                             .read_only = std::move(visible)}));
    ToolOutput output(folder, hooks, "Installing requirements");
    const Build build{hooks, *room, output, folder, python_version};
    for (std::size_t i = 0; i < packages.size(); ++i) {
      if (hooks.progress)
        hooks.progress({.what = "Installing packages",
                        .done = static_cast<std::int64_t>(i),
                        .total = static_cast<std::int64_t>(packages.size()),
                        .unit = "packages"});
      TY_RETURN_IF_ERROR(DownloadAndInstall(build, packages[i], i));
    }
    // From here on no code of a package runs.
    TY_RETURN_IF_ERROR(room->TakeBack());
    TY_RETURN_IF_ERROR(WriteFileAtomically(Layout::LayerBase(folder), base.filename().native()));
    TY_RETURN_IF_ERROR(RetargetScripts(base, folder));
    return python_version;
  };
  return BuildOnce(folder, waiting, fill, hooks.stop);
}

}  // namespace trainyard::environment
