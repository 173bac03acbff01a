#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/guarded.h"
#include "base/result.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/environment.h"

namespace trainyard::environment {

/// Looks for interpreters: python3.N in /usr/bin, /usr/local/bin and on PATH, those in
/// ENVIRONMENTS_DIR/pythons, and those that uv, pyenv or conda installed for this account or for all. Runs
/// each once to find its version; if several have the same version, the first in that order is used. About 10
/// ms for each. Blocks; any thread.
[[nodiscard]] AvailablePythons ProbePythons(const std::filesystem::path& environments_dir);

/// The directories of programs that it searches, in that order.
[[nodiscard]] std::vector<std::filesystem::path> PythonFolders(const std::filesystem::path& environments_dir);

/// Repeats ProbePythons when needed, so that interpreters that are installed later are noticed. Any thread.
class PythonInventory {
 public:
  /// Blocks as ProbePythons.
  explicit PythonInventory(std::filesystem::path environments_dir);

  /// The current interpreters: calls stat for each searched directory, and ProbePythons if one has changed.
  /// Blocks.
  [[nodiscard]] AvailablePythons Look();

 private:
  /// A directory and the time of its last change in nanoseconds; -1: it does not exist.
  using Times = std::map<std::string, std::int64_t>;
  struct Snapshot {
    Times times;
    AvailablePythons pythons;
  };
  [[nodiscard]] Times LookAtFolders(const AvailablePythons& pythons) const;

  std::filesystem::path environments_dir_;
  Guarded<Snapshot> seen_;
};

/// Lets uv download an interpreter into ENVIRONMENTS_DIR/pythons. kUnavailable or kFailedPrecondition with
/// uv's reason. Blocks for as long as the download takes; any thread.
[[nodiscard]] Status DownloadPython(const std::filesystem::path& environments_dir, std::string_view version,
                                    const PreparationHooks& hooks);

}  // namespace trainyard::environment
