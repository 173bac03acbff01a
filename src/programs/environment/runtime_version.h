#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainyard::environment {

/// A runtime version: which Python and which packages. One JSON file each, in data/runtimes or, for the
/// operator's own, in DATA/environments/runtimes.d.
struct RuntimeVersion {
  enum class Kind {
    kOriginal,   ///< a number that the original service had
    kTrainyard,  ///< one of this project, for current Pythons
    kOperator,   ///< from runtimes.d
    kTool,       ///< a tool that comes with runtimes: not for jobs
  };
  std::string version;  ///< "2.15"
  Kind kind = Kind::kOperator;
  std::vector<std::string> pythons;  ///< that it runs with, as "3.11"; the highest installed one is used
  std::string released;              ///< a date, or empty
  std::string notes;
  std::vector<std::string> packages;  ///< requirements as pip takes them, usually NAME==VERSION
  bool locked = false;                ///< `packages` is complete: nothing else is resolved or installed
  /// Distributions that an installed package of another name replaces, by name with their version: a package
  /// that requires "xgboost" accepts xgboost-cpu.
  std::map<std::string, std::string> provides;
  /// Directories below site-packages with shared libraries that programs open by their names alone, for
  /// LD_LIBRARY_PATH: the CUDA libraries of a TensorFlow that does not look for them itself.
  std::vector<std::string> library_folders;
  /// A directory below site-packages with libraries that are linked against NVIDIA's and are used without
  /// them (leave_out_cuda.py); empty: there is none.
  std::string without_cuda;
  /// The version for replicas with GPUs; empty: this one.
  std::string gpu_variant;
  /// Tools (data/tools) whose program of the same name is added to the PATH.
  std::vector<std::string> tools;
  /// Images that programs may name instead of it: jobs::MatchesImage.
  std::vector<std::string> images;
  /// Modules that come from the system's Python, with the Debian package that contains them. If there are
  /// any, programs see all of the system's packages, with lower precedence than the runtime's own.
  std::map<std::string, std::string> system_modules;

  friend bool operator==(const RuntimeVersion&, const RuntimeVersion&) = default;
};

/// Reads one definition. kInvalidArgument with what is wrong: not JSON, an unknown or missing name, a wrong
/// type, a version that cannot be a folder's name. `kind` defaults to operator. Pure: any thread.
[[nodiscard]] Result<RuntimeVersion> ParseRuntimeVersion(std::string_view json);

/// VERSION-HASH, the name of the directory that it is built in: it changes when anything that is installed
/// changes. Pure.
[[nodiscard]] std::string RuntimeFolder(const RuntimeVersion& runtime);

/// {2, 15} for "2.15", likewise for Python's "3.11"; empty for any other form. Pure.
[[nodiscard]] std::optional<std::pair<int, int>> ParseMajorMinor(std::string_view text);

/// Whether a build has to add pip: the list does not name it, though jobs may have packages. Pure.
[[nodiscard]] bool NeedsPip(const RuntimeVersion& runtime);

/// The version that `packages` pins the named package to, or that another one provides; empty if neither.
/// Pure.
[[nodiscard]] std::string PinnedVersion(const RuntimeVersion& runtime, std::string_view package);

/// The other names under which TensorFlow is published and that the runtime does not pin, with the version of
/// its TensorFlow: trainers require "tensorflow-gpu". Empty without TensorFlow. Pure.
[[nodiscard]] std::map<std::string, std::string> NamesOfTensorFlow(const RuntimeVersion& runtime);

}  // namespace trainyard::environment
