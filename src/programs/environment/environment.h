#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/run_tool.h"
#include "base/result.h"
#include "programs/environment/progress.h"

namespace trainyard::environment {

/// The Python environment that one replica needs.
struct EnvironmentRequest {
  struct Package {
    std::string uri;       ///< gs://BUCKET/OBJECT
    std::string checksum;  ///< SHA-256 of the object's content, 64 digits: part of the layer's name
  };
  std::string environments_dir;
  std::string runtime_version;
  std::vector<Package> packages;  ///< in installation order
  bool algorithms = false;        ///< includes the trainers of the built-in algorithms
};

/// A Python with everything that was requested. Set the variables in the user's process.
struct Environment {
  std::string python;                            ///< absolute path of the interpreter
  std::map<std::string, std::string> variables;  ///< prepend the value of "PATH" to the process's PATH
  std::string layer;  ///< directory in which the job's packages are installed; empty: it has none
};

/// Functions that preparation calls: to write into the replica's log, and to get packages from the server.
struct PreparationHooks {
  std::function<void(std::string_view line)> info;
  std::function<void(std::string_view line)> error;  ///< the tool's own messages (pip's stderr)
  SayProgress progress{};                            ///< progress
  std::string shown_by{};  ///< for the log: the command that shows all output of tools; empty: none
  /// Downloads a package to a file.
  std::function<Status(const std::string& uri, const std::string& path)> download;
  /// Isolates packages' code from the machine; outlives the preparation. Null: tools run without isolation,
  /// which is for tests.
  const ToolIsolation* isolation = nullptr;
  /// Ends preparation early with kCancelled: kills the running tool, stops waiting. May be left empty.
  std::stop_token stop{};
};

/// The environment if all of it exists already: a few stat calls, no process.
[[nodiscard]] std::optional<Environment> FindEnvironment(const EnvironmentRequest& request);

/// Builds what is missing (runtime, then package layer) and returns the environment. Blocks for as long as
/// downloads take; it may be killed at any point and run again; two processes that need the same one build
/// it once (a file lock is held while building; the other waits for it and logs that it does). Errors:
/// kFailedPrecondition with the failing tool's own reason ("pip: No matching distribution found for
/// nosuchpkg"), kResourceExhausted for a full disk, kUnavailable if the package index cannot be reached,
/// kNotFound for an unknown runtime version or a package that is not in its bucket, kCancelled after
/// `hooks.stop`.
[[nodiscard]] Result<Environment> PrepareEnvironment(const EnvironmentRequest& request,
                                                     const PreparationHooks& hooks);

}  // namespace trainyard::environment
