#include "cli/results/find_tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/process/child_process.h"
#include "base/process/variables.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPythonMax{10};

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> OnPath(const SettingSources& sources, const char* name) {
  std::string path = sources.variable("PATH").value_or("");
  while (!path.empty()) {
    const std::string folder = path.substr(0, path.find(':'));
    path.erase(0, std::min(folder.size() + 1, path.size()));
    if (!folder.empty() && IsProgram(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return std::nullopt;
}

/// Looks in the built runtime versions. It takes the last by name, so that the answer is always the same.
std::optional<fs::path> InRuntimes(const fs::path& data_dir) {
  std::vector<fs::path> found;
  std::error_code error;
  const fs::path runtimes = data_dir / "environments" / "runtimes";
  for (fs::directory_iterator entry(runtimes, error), end; !error && entry != end; entry.increment(error))
    if (IsProgram(entry->path() / "bin" / "tensorboard"))
      found.push_back(entry->path() / "bin" / "tensorboard");
  if (found.empty()) return std::nullopt;
  return *std::ranges::max_element(found);
}

/// Whether this Python has the package: without importing it, which takes seconds.
bool HasTensorBoard(const fs::path& python) {
  constexpr const char* kLook =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorboard') is None)";
  SpawnOptions options{.argv = {python.string(), "-c", kLook}, .environment = OwnVariables()};
  Result<ChildProcess> asked = ChildProcess::Spawn(std::move(options));
  if (!asked) return false;
  const auto ended = asked->WaitFor(kPythonMax);
  return ended && ended->signal == 0 && ended->code == 0;
}

}  // namespace

Result<std::vector<std::string>> FindTensorBoard(const SettingSources& sources, const fs::path& data_dir) {
  std::optional<fs::path> program = OnPath(sources, "tensorboard");
  if (!program) program = InRuntimes(data_dir);
  if (program) return std::vector<std::string>{program->string()};
  const std::optional<fs::path> python = OnPath(sources, "python3");
  if (python && HasTensorBoard(*python))
    return std::vector<std::string>{python->string(), "-m", "tensorboard.main"};
  return std::unexpected(
      NotFound("There is no TensorBoard on PATH, in a built runtime version or in python3. Install one: "
               "pip install tensorboard, or trainyard runtimes install 2.15"));
}

}  // namespace trainyard::cli
