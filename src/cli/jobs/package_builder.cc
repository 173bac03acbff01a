#include "cli/jobs/package_builder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "base/async/file.h"
#include "base/process/run_program.h"
#include "base/process/variables.h"
#include "cli/jobs/staging.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputMax = std::size_t{1} << 20;
constexpr std::chrono::minutes kBuildMax{30};
constexpr std::uintmax_t kCopiedFileMax = std::uintmax_t{64} << 20;

fs::path Absolute(const fs::path& path) {
  std::string text = fs::absolute(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

/// Whether setuptools adds a file of this name to every source distribution.
bool IsDistributionFile(const std::string& name) {
  for (const char* start : {"README", "LICEN", "COPYING", "NOTICE", "AUTHORS"})
    if (name.starts_with(start)) return true;
  return false;
}

/// Whether files in the root define the contents of the distribution: then the whole root is needed.
bool NeedsWholeRoot(const fs::path& root) {
  for (const char* name : {"setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in"})
    if (fs::exists(root / name)) return true;
  return false;
}

/// Links a directory symbolically. A file is hard linked or copied, because a source distribution keeps
/// symbolic links; a huge file on another file system is linked symbolically, too.
void LinkEntry(const fs::path& source, const fs::path& target) {
  std::error_code error;
  if (fs::is_regular_file(source, error)) {
    fs::path real = fs::canonical(source, error);
    fs::create_hard_link(real, target, error);
    if (!error) return;
    if (fs::file_size(real, error) <= kCopiedFileMax && fs::copy_file(real, target, error)) return;
  }
  fs::create_symlink(source, target, error);
}

Status LinkRoot(const fs::path& root, const std::string& package_name, const fs::path& scratch) {
  bool whole = NeedsWholeRoot(root);
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename();
    if (!whole && name != package_name && !IsDistributionFile(name)) continue;
    // The root may be the directory for temporary files itself.
    std::error_code ignored;
    if (fs::equivalent(entry->path(), scratch.parent_path(), ignored)) continue;
    LinkEntry(entry->path(), scratch / name);
  }
  if (error)
    return std::unexpected(
        InvalidArgument("", "Source directory [" + root.string() + "] is not a valid directory."));
  return {};
}

struct SetupRun {
  bool found = false;
  bool built = false;
  std::string output;
};

/// Runs setup.py with one Python: first with arguments that leave the fewest files, then with fewer arguments
/// for old versions of setuptools.
Result<SetupRun> RunSetup(const std::string& python, const fs::path& root, const fs::path& scratch,
                          const fs::path& output) {
  std::vector<std::string> egg_info{"egg_info", "--egg-base", scratch};
  std::vector<std::string> build{"build", "--build-base", scratch, "--build-temp", scratch};
  std::vector<std::string> sdist{"sdist", "--dist-dir", output};
  SetupRun outcome;
  for (int leave_out = 0; leave_out < 3 && !outcome.built; ++leave_out) {
    SpawnOptions options;
    options.argv = {python, root / "setup.py"};
    if (leave_out < 1) options.argv.insert(options.argv.end(), egg_info.begin(), egg_info.end());
    if (leave_out < 2) options.argv.insert(options.argv.end(), build.begin(), build.end());
    options.argv.insert(options.argv.end(), sdist.begin(), sdist.end());
    // Else importing the user's package leaves files beside it.
    options.environment = OwnVariables({{"PYTHONDONTWRITEBYTECODE", "1"}});
    options.directory = root;
    Result<RunResult> run = RunProgram(std::move(options), kOutputMax, kBuildMax);
    if (!run && run.error().code == Code::kNotFound) return SetupRun{};
    if (!run) return std::unexpected(std::move(run).error());
    outcome = {true, run->status.code == 0 && run->status.signal == 0, std::move(run->output)};
    if (outcome.output.find("No module named 'setuptools'") != std::string::npos) break;
  }
  return outcome;
}

Error BuildFailed(const std::string& output, bool generated) {
  std::string message = "Packaging of user Python code failed with message:\n\n" + output + "\n\n";
  message += generated
                 ? "Try manually writing a setup.py file at your package root and rerunning the command."
                 : "Try manually building your Python code by running:\n  $ python setup.py sdist\nand "
                   "providing the output via "
                   "the `--packages` flag (for example, `--packages dist/package.tar.gz,dist/package2.whl)`";
  return InvalidArgument("", std::move(message));
}

Result<std::vector<std::string>> FilesIn(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    files.push_back(entry->path());
  if (error) return std::unexpected(ErrnoError(error.value(), "list " + folder.string()));
  std::ranges::sort(files);
  return files;
}

}  // namespace

Status CheckPackagePath(const fs::path& package_path) {
  fs::path package = Absolute(package_path);
  std::error_code error;
  if (!fs::is_directory(package.parent_path(), error))
    return std::unexpected(InvalidArgument(
        "", "Source directory [" + package.parent_path().string() + "] is not a valid directory."));
  if (!fs::exists(package / "__init__.py", error))
    return std::unexpected(
        InvalidArgument("", "[" + package.string() +
                                "] is not a valid Python package because it does not contain an "
                                "`__init__.py` file. Please create one and try again. Also, please ensure "
                                "that --package-path refers to a local directory."));
  return {};
}

Result<std::vector<std::string>> BuildPackage(const fs::path& package_path, const fs::path& scratch,
                                              const fs::path& output) {
  fs::path package = Absolute(package_path);
  fs::path root = scratch / "root";
  fs::path work = scratch / "work";
  TY_RETURN_IF_ERROR(MakeFolders(root));
  TY_RETURN_IF_ERROR(MakeFolders(work));
  TY_RETURN_IF_ERROR(LinkRoot(package.parent_path(), package.filename(), root));
  std::error_code error;
  bool generated = !fs::is_regular_file(root / "setup.py", error);
  if (generated)
    TY_RETURN_IF_ERROR(WriteFileAtomically(root / "setup.py", GeneratedSetupPy(package.filename().string())));

  std::optional<SetupRun> last;
  for (const char* python : {"python3", "/usr/bin/python3", "python"}) {
    TY_TRY(SetupRun outcome, RunSetup(python, root, work, output));
    if (outcome.built) return FilesIn(output);
    if (!outcome.found) continue;
    last = std::move(outcome);
    if (last->output.find("No module named 'setuptools'") == std::string::npos) break;
  }
  if (!last)
    return std::unexpected(FailedPrecondition(
        "No Python executable found on path. A Python executable with setuptools\ninstalled on the "
        "PYTHONPATH is required for "
        "building AI Platform training jobs.\nInstall them: apt install python3 python3-setuptools"));
  if (last->output.find("No module named 'setuptools'") != std::string::npos)
    last->output +=
        "\nsetuptools is missing. Install it: apt install python3-setuptools, or python3 -m pip install "
        "setuptools";
  return std::unexpected(BuildFailed(last->output, generated));
}

}  // namespace trainyard::cli
